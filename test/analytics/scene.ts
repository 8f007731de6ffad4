// A ledger in which a little of everything happened, small enough to add up by hand.
import { completeEvent, type EventDraft } from "../../src/core/events/event.ts";
import type { CallEntry } from "../../src/core/ledger/call-entry.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import { noUsage, type Usage } from "../../src/core/message/usage.ts";
import { eventId } from "../ledger/contract/new-event.ts";
import {
  call,
  compaction,
  newCompaction,
  newTurn,
  openSession,
  startMs,
} from "../ledger/test-kit.ts";

/** A day after everything. */
export const nowMs: number = startMs + 86_400_000;

const sonnet = { model: "claude-sonnet-4-6", provider: "anthropic" };
const haiku = { model: "claude-haiku-4-5", provider: "anthropic" };

/**
 * `a` on Sonnet: four turns of five calls, compacted after the second; the last call lost its cache. `w`, its worker, on Haiku:
 * a turn that fails, one that was answered at the second attempt. `x` on a model nobody knows.
 */
export async function writeScene(ledger: Ledger): Promise<void> {
  await openSession(ledger, "a", sonnet);
  await openSession(ledger, "w", { ...haiku, role: "worker", parent: { sessionId: "a" } });
  await openSession(ledger, "x", { model: "garage-1", provider: "garage", agent: "tinker" });
  await runTurn(ledger, "a", "a1", [
    paid(10, used(0, 1000), 4080),
    paid(20, used(1000, 100), 1005),
  ]);
  await runTurn(ledger, "a", "a2", [paid(100, used(1100, 100), 1035)]);
  const compacted = {
    summarizedThroughTurnId: "a2",
    model: haiku.model,
    costPicoUsd: 500_000_000n,
  };
  await compaction(
    ledger,
    newCompaction("a", "f1", "a2", { ...compacted, compactedMs: startMs + 200 }),
  );
  await runTurn(ledger, "a", "a3", [paid(300, used(400, 300), 1575)]);
  await runTurn(ledger, "a", "a4", [
    { ...paid(hourMs, used(0, 750), 0), costPicoUsd: 3_142_500_000n, tiers },
  ]);
  await runTurn(ledger, "w", "w1", [{ ...at(400), ...failed }], "failed");
  const attempt = { ...noUsage, uncachedTokens: 200 };
  const retried = {
    ...paid(500, { ...used(0, 1000), uncachedTokens: 100 }, 1650),
    discarded: [attempt],
  };
  await runTurn(ledger, "w", "w2", [retried]);
  await runTurn(ledger, "x", "x1", [{ ...at(600), usage: used(50, 0), costPicoUsd: null }]);
  await ledger.appendEvents(drafts.map(toEvent));
}

/** In tokens of our own count, half of those billed. */
const tiers: Required<CallEntry>["tiers"] = [
  ["T0", 50],
  ["T3", 325],
  ["T5", 5],
];

export const hourMs = 3_600_000;

/** Ten tokens uncached, twenty generated. */
function used(read: number, written: number): Usage {
  return {
    ...noUsage,
    uncachedTokens: 10,
    cacheReadTokens: read,
    cacheWriteTokens: { "5m": written },
    outputTokens: 20,
  };
}

type CallPart = Partial<CallEntry>;

function at(offsetMs: number): CallPart {
  return { startMs: startMs + offsetMs, endMs: startMs + offsetMs + 1500 };
}

function paid(offsetMs: number, usage: Usage, millionsPicoUsd: number): CallPart {
  return { ...at(offsetMs), usage, costPicoUsd: BigInt(millionsPicoUsd) * 1_000_000n };
}

const failed: CallPart = {
  status: "failed",
  stopReason: null,
  reply: null,
  usage: null,
  costPicoUsd: null,
  failure: { kind: "rate-limited", detail: "too many", retryAfterMs: undefined },
};

async function runTurn(
  ledger: Ledger,
  sessionId: string,
  id: string,
  calls: readonly CallPart[],
  status: "completed" | "failed" = "completed",
): Promise<void> {
  const session = await ledger.findSession(sessionId);
  const like = { model: session?.model ?? "", provider: session?.provider ?? "" };
  const began = calls[0]?.startMs ?? startMs;
  const turn = await ledger.openTurn(
    newTurn(sessionId, id, session?.headTurnId ?? null, { ...like, startMs: began }),
  );
  for (const [index, part] of calls.entries()) {
    await turn.append(call(id, index + 1, { model: like.model, ...part }));
  }
  const reason = status === "failed" ? { reason: "rate_limit" } : {};
  await turn.close({ status, endMs: (calls.at(-1)?.endMs ?? began) + 500, ...reason });
}

const noBlock = {
  detail: null,
  block_tier: null,
  block_label: null,
  block_index: null,
  block_byte_offset: null,
  block_before_hash: null,
  block_after_hash: null,
};

const drafts: readonly EventDraft[] = [
  {
    type: "cache.miss",
    sessionId: "a",
    turnId: "a4",
    payload: {
      cause: "lifetime expired",
      expected_read_tokens: 700,
      reported_read_tokens: 0,
      lost_tokens: 700,
      lost_cost_usd: "0.00189",
      ...noBlock,
      provider_diagnosis: "no difference",
      diagnosis_agreement: "agrees",
    },
  },
  {
    type: "cache.miss",
    sessionId: "x",
    turnId: "x1",
    payload: {
      cause: "lifetime expired",
      expected_read_tokens: 90,
      reported_read_tokens: 50,
      lost_tokens: 40,
      lost_cost_usd: null,
      ...noBlock,
      detail: "after 12 min",
      block_tier: "T3",
      block_label: "user message 4",
      block_index: 7,
      block_byte_offset: 12,
    },
  },
  {
    type: "skill.loaded",
    sessionId: "a",
    turnId: "a1",
    payload: {
      skill_id: "git",
      skill_version: "0123456789abcdef",
      load_reason: "on_demand",
      load_size_tokens: 300,
      source: "global",
      triggered_by_tool_use_id: null,
    },
  },
  {
    type: "skill.search",
    sessionId: "a",
    turnId: "a1",
    payload: { query: "commit", results_count: 2, result_skill_ids: ["git", "review"] },
  },
  {
    type: "compaction.skipped",
    sessionId: "a",
    turnId: "a3",
    payload: { trigger: "context_limit", outcome: "too_soon" },
  },
  {
    type: "compaction.failed",
    sessionId: "a",
    turnId: "a3",
    payload: {
      trigger: "manual",
      outcome: "failed",
      error_class: "call_failed",
      error_message_redacted: "no",
      cost_usd: "0.0002",
      duration_ms: 10,
    },
  },
];

function toEvent(draft: EventDraft, index: number): ReturnType<typeof completeEvent> {
  return completeEvent(draft, {
    id: eventId(index + 1),
    timestampUs: (startMs + 700 + index) * 1000,
  });
}
