// A turn at any stage, for tests of its two machines.
import { assemble } from "../assembly/assemble.ts";
import { planCache } from "../cache/plan-cache.ts";
import { findPolicy } from "../cache/policies.ts";
import type { PolicyName } from "../cache/policy.ts";
import type { CallEntry } from "../ledger/call-entry.ts";
import type { NewCompaction } from "../ledger/compaction-record.ts";
import type { Message, ToolUseBlock } from "../message/message.ts";
import { resolveModel } from "../models/resolve-model.ts";
import type { Session } from "../session/session.ts";
import { toSession } from "../session/to-session.ts";
import { cheapCounter } from "../tokens/cheap-counter.ts";
import { anthropicMessages } from "../wire/anthropic-messages/index.ts";
import type { ProviderFailure } from "../wire/failure.ts";
import type { Reply } from "../wire/reply.ts";
import { toAssemble, toPlan, toPrepared, type PreparedCall } from "./prepare-call.ts";
import { openTurn, type CallAtHand, type Turn } from "./turn.ts";

export const noon = 1_800_000_000_000;
export const noonIso = "2027-01-15T08:00:00.000Z";

export function sessionWith(policy: PolicyName = "adaptive"): Session {
  return toSession({
    id: "session",
    model: resolveModel("claude-sonnet-4-6").facts,
    protocol: anthropicMessages,
    policy: findPolicy(policy),
    context: { role: "unified", workspaceRules: "Answer briefly." },
    counter: cheapCounter,
    options: { outputTokensMax: 100, stream: false },
  });
}

export function said(role: Message["role"], text: string): Message {
  return { role, content: [{ type: "text", text }] };
}

export const asked: Message = said("user", "Look.");

/** A turn that has just begun. */
export function turnWith(more: Partial<Turn> = {}): Turn {
  const session = more.session ?? sessionWith();
  const begun = openTurn({
    id: "turn-1",
    startMs: noon,
    event: {
      sourceId: null,
      attachments: [],
      message: asked,
      moment: {},
      context: null,
      startIso: noonIso,
      timeSentMs: null,
    },
    limits: { callsMax: 5, mayCompact: true, repeatsFailedCalls: false },
    before: session,
    current: [asked],
  });
  return { ...begun, ...more };
}

export function preparedFor(session: Session, current: readonly Message[] = [asked]): PreparedCall {
  const assembly = assemble(toAssemble(session, { current, volatile: null }));
  return toPrepared(session, assembly, planCache(toPlan(session, assembly, noon)), null);
}

/** A call that is about to be sent; of so many tokens where that matters. */
export function callWith(promptTokens?: number): CallAtHand {
  const prepared = preparedFor(sessionWith());
  return {
    moment: { nowMs: noon, volatile: null },
    prepared: promptTokens === undefined ? prepared : { ...prepared, promptTokens },
  };
}

export const use: ToolUseBlock = { type: "tool_use", id: "use-1", name: "read", inputJson: "{}" };

export const found: Message = {
  role: "tool",
  content: [
    {
      type: "tool_result",
      toolUseId: "use-1",
      content: [{ type: "text", text: "found" }],
      isError: false,
    },
  ],
};

export const compaction: NewCompaction = {
  id: "compaction-1",
  sessionId: "session",
  parentTurnId: null,
  messages: [],
  details: {
    compactedMs: noon,
    summary: "They looked.",
    summarizedThroughTurnId: "turn-0",
    firstKeptTurnId: null,
    turnsSummarized: 1,
    kind: "summary",
    trigger: "context_limit",
    model: "claude-sonnet-4-6",
    provider: "anthropic",
    tokensBefore: 900,
    tokensAfter: 300,
    summaryTokens: 200,
    inputTokens: 900,
    outputTokens: 200,
    costPicoUsd: 5_000n,
    durationMs: 3,
    headTurnCount: 1,
    tailStartIndex: 1,
  },
};

export const overflow: ProviderFailure = {
  kind: "context-overflow",
  detail: "too long",
  tokens: undefined,
  tokensMax: undefined,
};

/** A recorded call: a reply that ends the turn, by default. */
export function entryWith(more: Partial<CallEntry> = {}): CallEntry {
  return {
    turnId: "turn-1",
    number: 1,
    startMs: noon,
    endMs: noon,
    model: "claude-sonnet-4-6",
    policy: "adaptive",
    promptKey: "key",
    plan: callWith().prepared.plan,
    status: "complete",
    stopReason: "end_turn",
    usage: null,
    discarded: [],
    costPicoUsd: null,
    failure: null,
    verdict: null,
    refuted: [],
    notes: [],
    sent: [],
    reply: said("assistant", "Done."),
    ...more,
  };
}

export const asks: Partial<CallEntry> = {
  stopReason: "tool_use",
  reply: { role: "assistant", content: [use] },
};

export function failedWith(failure: ProviderFailure): Partial<CallEntry> {
  return { status: "failed", stopReason: null, reply: null, failure };
}

export function replyOf(message: Message, more: Partial<Reply> = {}): Reply {
  const usage = {
    uncachedTokens: 40,
    cacheReadTokens: 0,
    cacheWriteTokens: {},
    outputTokens: 10,
    reasoningTokens: 0,
  };
  return {
    kind: "reply",
    id: "msg_1",
    model: "claude-sonnet-4-6",
    message,
    stopReason: "end_turn",
    usage: { usage, isReported: true, reportsCache: true, warnings: [] },
    status: "complete",
    transformations: [],
    ...more,
  };
}
