// What the world does in a course: replies and failures of every kind, results of tools, and how compactions go.
import type { Message, ToolUseBlock } from "../../src/core/message/message.ts";
import type { Usage } from "../../src/core/message/usage.ts";
import type { Session } from "../../src/core/session/session.ts";
import type { SummaryCall } from "../../src/core/session/summary-bill.ts";
import type { ProviderOutcome, SummaryOutcome } from "../../src/core/turn/compaction/compacting.ts";
import type { ProviderFailure } from "../../src/core/wire/failure.ts";
import type { Reply, ReplyStop } from "../../src/core/wire/reply.ts";
import { chance, choose, weigh, type Course, type Place } from "./course.ts";
import { fill } from "./stages.ts";

/** What a model says to a call; the same whenever the call is sent. */
export function replyTo(
  course: Course,
  { turn, call }: Place,
  hasThinking: boolean,
): Reply | ProviderFailure {
  const random = (what: number): number => chance(course.seed, 10, turn, call, what);
  const name = `${turn}.${call}`;
  const said = { type: "text" as const, text: `Reply ${name}. ${fill(random(1) < 0.2 ? 800 : 5)}` };
  const thought = { type: "thinking" as const, text: `On ${name}.`, signature: `s${name}` };
  const content = hasThinking && random(2) < 0.7 ? [thought, said] : [said];
  const uses = Array.from({ length: 1 + Math.floor(random(3) * 3) }, (_, at) => useOf(name, at));
  const weights = course.isCrowded ? crowdedWeights : replyWeights;
  switch (course.isEndless ? "asks" : weigh(random(0), weights)) {
    case "done":
      return reply(content, "end_turn");
    case "asks":
      return reply([...content, ...uses], "tool_use");
    case "asks without a word":
      return reply(uses, "tool_use");
    case "pauses":
      return reply(content, "pause_turn");
    case "is cut off":
      return reply([...content, ...uses], "max_tokens");
    case "says nothing":
      return reply([], random(4) < 0.3 ? "pause_turn" : "end_turn");
    case "breaks off":
      return { ...reply(content, "unknown"), status: "partial" };
    case "breaks off with a failure": {
      const failure = toFailure(choose(random(5), failureKinds));
      return { ...reply(content, "unknown"), status: "partial", failure };
    }
    case "overflows":
      return { kind: "context-overflow", detail: "too long", tokens: 11_000, tokensMax: 6_000 };
    case "is too large":
      return toFailure("request-too-large");
    case "fails":
      return toFailure(choose(random(6), failureKinds));
  }
}

const replyWeights = {
  done: 20,
  asks: 40,
  "asks without a word": 6,
  pauses: 6,
  "is cut off": 2,
  "says nothing": 3,
  "breaks off": 2,
  "breaks off with a failure": 4,
  overflows: 12,
  "is too large": 3,
  fails: 6,
};

export const failureKinds = [
  "rate-limited",
  "overloaded",
  "server-error",
  "context-overflow",
  "thinking-mismatch",
  "request-too-large",
  "invalid-request",
  "authentication",
  "permission",
  "billing",
  "not-found",
  "malformed",
  "unreachable",
  "timeout",
] as const;

function toFailure(kind: ProviderFailure["kind"]): ProviderFailure {
  return { kind, detail: "as planned", retryAfterMs: undefined, tokens: 11_000, tokensMax: 6_000 };
}

const crowdedWeights = { ...replyWeights, overflows: 100, pauses: 30 };

/** A provider whose call is aborted: nothing came, or a part. */
export function cancelledReply({ seed }: Course, { turn, call }: Place): Reply | ProviderFailure {
  const failure: ProviderFailure = { kind: "cancelled", detail: "cancelled by the caller" };
  if (chance(seed, 11, turn, call) < 0.7) return failure;
  const part = { type: "text" as const, text: `Part ${turn}.${call}.` };
  return { ...reply([part], "unknown"), status: "partial", failure };
}

function useOf(name: string, at: number): ToolUseBlock {
  return { type: "tool_use", id: `use-${name}-${at}`, name: "read", inputJson: `{"at":${at}}` };
}

function reply(content: Message["content"], stopReason: ReplyStop): Reply {
  return {
    kind: "reply",
    id: "msg",
    model: "model",
    message: { role: "assistant", content },
    stopReason,
    usage: { usage: usageOf(0), isReported: true, reportsCache: true, warnings: [] },
    status: "complete",
    transformations: [],
  };
}

/** A reply that ends its turn. */
export function say(content: Message["content"]): Reply {
  return reply(content, "end_turn");
}

function usageOf(promptTokens: number): Usage {
  const rest = { cacheReadTokens: 0, cacheWriteTokens: {}, reasoningTokens: 0 };
  return { uncachedTokens: promptTokens, outputTokens: 10, ...rest };
}

/** The provider bills what it was sent. */
export function bill(
  outcome: Reply | ProviderFailure,
  promptTokens: number,
): Reply | ProviderFailure {
  if (outcome.kind !== "reply") return outcome;
  return { ...outcome, usage: { ...outcome.usage, usage: usageOf(promptTokens) } };
}

/** Small as a rule; some fill the window. */
export function answerOf(
  { seed }: Course,
  { turn, call }: Place,
  { id }: ToolUseBlock,
  at: number,
): Message {
  const random = (what: number): number => chance(seed, 12, turn, call, at, what);
  const size = random(0) < 0.7 ? 10 : random(1) < 0.8 ? 1_200 : 6_000;
  const content = [{ type: "text" as const, text: `Result of ${id}. ${fill(size)}` }];
  const isError = random(2) < 0.1;
  return { role: "tool", content: [{ type: "tool_result", toolUseId: id, content, isError }] };
}

/** What was said meanwhile, different for each. */
export function wordsOf(at: number): Message {
  return { role: "user", content: [{ type: "text", text: `Meanwhile ${at}.` }] };
}

/** As the provider counts. */
export function countOf(
  { seed, countsOtherwise }: Course,
  { turn, call }: Place,
  estimate: number,
): number {
  if (!countsOtherwise) return estimate;
  return Math.round(estimate * choose(chance(seed, 13, turn, call), [0.8, 1, 1.1, 1.4]));
}

export function isLockFree({ seed }: Course, { turn, call }: Place): boolean {
  return chance(seed, 14, turn, call) > 0.06;
}

/** Why a compaction cannot be committed; null where it can. */
export function commitLoss({ seed }: Course, { turn, call }: Place): string | null {
  return chance(seed, 15, turn, call) < 0.06 ? "another process compacted meanwhile" : null;
}

export function summaryOf(
  { seed }: Course,
  { turn, call }: Place,
  { cache, model }: Session,
  nowMs: number,
): SummaryOutcome {
  const calls = [toCall(model, nowMs)];
  if (chance(seed, 16, turn, call) < 0.3) {
    return { kind: "failed", reasons: ["no model answers"], calls, cache };
  }
  const size = chance(seed, 17, turn, call) < 0.1 ? 9_000 : 40;
  return { kind: "summary", text: `## Task\nSummary ${turn}.${call}. ${fill(size)}`, calls, cache };
}

export function providerNotesOf(
  { seed }: Course,
  { turn, call }: Place,
  { cache, model }: Session,
  nowMs: number,
): ProviderOutcome {
  const at = chance(seed, 18, turn, call);
  if (at < 0.3) return { kind: "unavailable", why: "it has none" };
  const calls = [toCall(model, nowMs)];
  if (at < 0.6) return { kind: "failed", reasons: ["it could not"], calls, cache };
  const content = [{ type: "compaction" as const, content: `Compacted ${turn}.${call}.` }];
  return {
    kind: "compacted",
    messages: [{ role: "assistant", content }],
    summary: null,
    calls,
    cache,
  };
}

function toCall({ id, provider }: Session["model"], nowMs: number): SummaryCall {
  return {
    startMs: nowMs,
    endMs: nowMs,
    model: id,
    provider,
    status: "complete",
    usage: usageOf(100),
    discarded: [],
    costPicoUsd: 5n,
    failure: null,
  };
}
