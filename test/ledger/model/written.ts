// What programs write: messages in one word each, calls and compacts with nothing in them that does not matter.
import type { CallEntry } from "../../../src/core/ledger/call-entry.ts";
import type { CompactionDetails } from "../../../src/core/ledger/compaction-record.ts";
import type { Block, Message } from "../../../src/core/message/message.ts";
import { noPlan } from "../test-kit.ts";

function textMessage(role: Message["role"], text: string): Message {
  return { role, content: [{ type: "text", text }] };
}

/** `?u1 ?u2` asks for tools, `!u1 …` answers one, anything else is text. */
export function toMessage(text: string, isError = false): Message {
  if (text.startsWith("?")) {
    const uses = text
      .split(" ")
      .map((use): Block => ({ type: "tool_use", id: use.slice(1), name: "Read", inputJson: "{}" }));
    return { role: "assistant", content: uses };
  }
  if (text.startsWith("!")) {
    const [toolUseId = "", ...words] = text.slice(1).split(" ");
    const content = [{ type: "text" as const, text: words.join(" ") }];
    return { role: "tool", content: [{ type: "tool_result", toolUseId, content, isError }] };
  }
  return textMessage(/^(?:question|summary)/.test(text) ? "user" : "assistant", text);
}

export function callEntry(turnId: string, number: number, more: Partial<CallEntry>): CallEntry {
  return {
    turnId,
    number,
    startMs: 1,
    endMs: 2,
    model: "m",
    policy: "adaptive",
    promptKey: "k",
    plan: noPlan,
    status: "complete",
    stopReason: null,
    usage: null,
    discarded: [],
    costPicoUsd: null,
    failure: null,
    verdict: null,
    refuted: [],
    notes: [],
    sent: [],
    reply: null,
    ...more,
  };
}

export function compactionDetails(
  summarizedThroughTurnId: string,
  firstKeptTurnId: string | null,
  firstKeptIndex = 0,
): CompactionDetails {
  return {
    compactedMs: 5,
    summary: "s",
    summarizedThroughTurnId,
    firstKeptTurnId,
    firstKeptIndex,
    turnsSummarized: 1,
    kind: "summary",
    trigger: "manual",
    model: "m",
    provider: "p",
    tokensBefore: 1,
    tokensAfter: 1,
    summaryTokens: 1,
    inputTokens: 1,
    outputTokens: 1,
    costPicoUsd: 7n,
    durationMs: 1,
    headTurnCount: 1,
    tailStartIndex: 1,
    indexJson: null,
    metadataJson: null,
  };
}
