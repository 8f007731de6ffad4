// What a process does until it is killed: write calls, store sums of them, price them again, or delete sessions.
import type { Random } from "../../harness/random-message.ts";
import { hashContent } from "../../src/core/hash.ts";
import type { GatewayCall } from "../../src/core/ledger/gateway-call.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";

export const roles = ["write", "catch up", "reprice", "delete"] as const;

export type Role = (typeof roles)[number];

export interface WorkerTask {
  readonly where: string;
  readonly seed: number;
  readonly role: Role;
  /** Calls begin within two days before it. */
  readonly endMs: number;
}

export type WorkerEvent =
  | { readonly at: "ready" | "done" }
  | { readonly at: "problem"; readonly message: string };

const spanMs = 2 * 86_400_000;
const conversations = 40;

export interface Work {
  readonly ledger: Ledger;
  readonly random: Random;
  readonly endMs: number;
}

export async function workOnce({ ledger, random, endMs }: Work, role: Role): Promise<void> {
  const fromMs = endMs - Math.floor(random() * spanMs);
  switch (role) {
    case "write":
      await ledger.recordCalls(Array.from({ length: 20 }, () => makeCall(random, endMs)));
      return;
    case "catch up":
      await ledger.catchUp({ budgetMs: 1, callsPerBatch: 50 });
      return;
    case "reprice": {
      const price = BigInt(1 + Math.floor(random() * 9));
      await ledger.reprice({
        fromMs,
        toMs: fromMs + spanMs / 8,
        priceOf: ({ usage }) => BigInt(usage.uncachedTokens) * price,
      });
      return;
    }
    case "delete":
      await ledger.deleteSession(nameOf(random));
      await ledger.sweepEvents(fromMs);
  }
}

function nameOf(random: Random): string {
  return `conversation-${Math.floor(random() * conversations)}`;
}

/** Most calls are late: they began in an hour that is long over. */
export function makeCall(random: Random, endMs: number): GatewayCall {
  const id = nameOf(random);
  const startMs = endMs - Math.floor(random() * spanMs);
  const isFailed = random() < 0.05;
  const uncachedTokens = Math.floor(random() * 1000);
  return {
    id: `call-${Math.floor(random() * 2 ** 48)}`,
    conversation: {
      id,
      parentId: random() < 0.1 ? nameOf(random) : null,
      kind: "conversation",
      client: `client-${Math.floor(random() * 3)}`,
      clientSession: null,
      callNumber: 1 + Math.floor(random() * 50),
    },
    startMs,
    firstByteMs: startMs + 300,
    endMs: startMs + 300 + Math.floor(random() * 20_000),
    upstream: "anthropic",
    account: hashContent("an account"),
    gatewayKey: `key-${Math.floor(random() * 5)}`,
    user: `user-${Math.floor(random() * 9)}`,
    team: random() < 0.5 ? "a team" : null,
    protocol: "anthropic-messages",
    model: random() < 0.5 ? "claude-sonnet-4-6" : "claude-haiku-4-5",
    factsId: null,
    provider: "anthropic",
    policy: "client",
    status: isFailed ? "failed" : "complete",
    stopReason: isFailed ? null : "end_turn",
    failure: isFailed ? { kind: "overloaded", detail: "busy", retryAfterMs: undefined } : null,
    replyId: "reply",
    servedBy: "claude",
    usage: isFailed
      ? null
      : {
          uncachedTokens,
          cacheReadTokens: Math.floor(random() * 50_000),
          cacheWriteTokens: { "5m": Math.floor(random() * 900) },
          outputTokens: Math.floor(random() * 500),
          reasoningTokens: 0,
        },
    reportsCache: true,
    costPicoUsd: isFailed ? null : BigInt(uncachedTokens) * 3n,
    plainCostPicoUsd: null,
    explanation: null,
    keptBlocks: 0,
    addedBlocks: [],
    markers: [],
    otherPolicies: [],
    requestBytes: 100,
    responseBytes: 100,
    notes: [],
  };
}
