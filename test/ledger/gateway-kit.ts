// Calls of other programs as the gateway records them, in a few words.
import type { StrataEvent } from "../../src/core/events/event.ts";
import { hashContent } from "../../src/core/hash.ts";
import type {
  Conversation,
  ConversationBlock,
  GatewayCall,
} from "../../src/core/ledger/gateway-call.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import { all, startMs } from "./test-kit.ts";

/** The n-th call of a conversation, which went well: $0.000000001. */
export function gatewayCall(
  conversationId: string,
  number: number,
  more: Partial<GatewayCall> = {},
  conversation: Partial<Conversation> = {},
): GatewayCall {
  return {
    id: `${conversationId}-${number}`,
    conversation: {
      id: conversationId,
      parentId: null,
      kind: "conversation",
      client: "claude-code",
      clientSession: "5f0c",
      callNumber: number,
      ...conversation,
    },
    startMs: startMs + number * 1000,
    firstByteMs: startMs + number * 1000 + 300,
    endMs: startMs + number * 1000 + 900,
    upstream: "anthropic",
    account: hashContent("an account"),
    gatewayKey: null,
    user: null,
    team: null,
    protocol: "anthropic-messages",
    model: "claude-sonnet-5-20260929",
    factsId: "claude-sonnet-5",
    provider: "anthropic",
    policy: "client",
    status: "complete",
    stopReason: "end_turn",
    failure: null,
    replyId: "msg_01",
    servedBy: null,
    usage: {
      uncachedTokens: 10,
      cacheReadTokens: 100,
      cacheWriteTokens: { "5m": 7 },
      outputTokens: 20,
      reasoningTokens: 0,
    },
    reportsCache: true,
    costPicoUsd: 1000n,
    plainCostPicoUsd: 5000n,
    explanation: null,
    keptBlocks: 0,
    addedBlocks: [],
    markers: [{ block: 0, lifetime: "5m" }],
    otherPolicies: [],
    requestBytes: 12_345,
    responseBytes: 678,
    notes: [],
    ...more,
  };
}

export function block(section: string): ConversationBlock {
  return {
    hash: hashContent(section),
    tier: "T3",
    kind: "text",
    role: "user",
    section,
    tokens: 40,
  };
}

/** A call that lost 900 tokens, because the eighth block changed. */
export function missed(texts: {
  readonly before?: string;
  readonly after?: string;
}): NonNullable<GatewayCall["explanation"]> {
  return {
    expectedReadTokens: 1000,
    reportedReadTokens: 100,
    cause: "history rewritten",
    detail: null,
    block: {
      index: 7,
      path: "messages[2].content[0]",
      tier: "T3",
      section: "user message 3",
      byteOffset: 12,
      before: texts.before ?? null,
      after: texts.after ?? null,
    },
    lostTokens: 900,
    lostPicoUsd: 2_430_000_000n,
    advice: "Append to the history.",
    detectedBy: ["expected more"],
  };
}

export async function said(ledger: Ledger, sessionId: string): Promise<readonly StrataEvent[]> {
  return all(ledger.readEvents({ sessionId }));
}
