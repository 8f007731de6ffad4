// Event payloads of calls and turns: counts, classes and dollars, no content.
import type { PayloadOf } from "../events/event.ts";
import { toUsd } from "../events/payload-spelling.ts";
import { toErrorClass } from "../wire/failure.ts";
import type { CallEntry } from "../ledger/call-entry.ts";
import { findSavings } from "../models/cost.ts";
import type { Block } from "../message/message.ts";
import {
  generatedTokens,
  noUsage,
  promptTokens,
  totalUsage,
  writtenTokens,
} from "../message/usage.ts";
import { planBudget } from "../tokens/budget.ts";
import type { TurnEnding } from "./turn.ts";
import type { Route } from "../routing/decide-route.ts";
import type { Session } from "../session/session.ts";
import type { PreparedCall } from "./prepare-call.ts";

type About = "model" | "provider";

export type FirstCall = Pick<PreparedCall, "assembly" | "plan" | "promptTokens">;

export function toCompleted(
  entry: CallEntry,
  { model, origin }: Session,
): Omit<PayloadOf<"llm.call_completed">, About> {
  const usage = entry.usage ?? noUsage;
  return {
    input_tokens: usage.uncachedTokens,
    output_tokens: generatedTokens(usage),
    cached_input_tokens: usage.cacheReadTokens,
    cache_creation_input_tokens: writtenTokens(usage),
    cost_usd: toUsd(entry.costPicoUsd),
    pricing_version: model.checkedOn,
    latency_ms: entry.endMs - entry.startMs,
    stop_reason: entry.stopReason ?? "unknown",
    produced_tool_calls: countBlocks(entry, "tool_use"),
    produced_thinking_blocks: countBlocks(entry, "thinking"),
    ...(entry.notes.some(({ kind }) => kind === "usage-refused") && { usage_refused: true }),
    ...toDiagnosis(entry),
    ...toParent(origin),
    ...(usage.reasoningTokens === 0 ? {} : { reasoning_output_tokens: usage.reasoningTokens }),
    cache_policy: entry.policy,
    marker_count: entry.plan.markers.length,
    planned_read_tokens: entry.plan.expected.readTokens,
    ...toSaved(entry, model),
  };
}

/** Against the same call without any caching; nothing where its price is not the usual one or not known. */
function toSaved(
  { usage, startMs, serviceTier, isCostNamed }: CallEntry,
  model: Session["model"],
): Pick<PayloadOf<"llm.call_completed">, "saved_usd"> {
  if (usage === null || serviceTier !== undefined || isCostNamed === true) return {};
  const saved = toUsd(findSavings(usage, model, { at: startMs }));
  return saved === null ? {} : { saved_usd: saved };
}

/** What the provider said about its cache, if it was asked. */
export function toDiagnosis({
  diagnosis,
}: CallEntry): Pick<PayloadOf<"cache.miss">, "provider_diagnosis" | "diagnosis_agreement"> {
  if (diagnosis === undefined) return {};
  return { provider_diagnosis: diagnosis.says, diagnosis_agreement: diagnosis.agreement };
}

/** The effect of a model switch on the cache: what the new model still has cached, and what is left behind. */
export function toRouted(
  { model }: Session,
  { plan, promptTokens: promptSize, assembly }: FirstCall,
  { by, passedOver, left }: Route,
): Omit<PayloadOf<"route.decided">, About> {
  const cachedTokens = plan.expected.readTokens;
  return {
    reason: by,
    passed_over: passedOver.map(({ name, reason }) => `${name}: ${reason}`),
    previous_model: left?.model ?? null,
    cache_effect: left === null ? "same_model" : cachedTokens > 0 ? "goes_back" : "starts_cold",
    cached_tokens: cachedTokens,
    left_cached_tokens: left?.cachedTokens ?? 0,
    estimated_input_tokens: promptSize,
    available_input_tokens: planBudget(model, assembly.usedTokens).availableTokens,
  };
}

function countBlocks({ reply }: CallEntry, type: Block["type"]): number {
  return reply?.content.filter((block) => block.type === type).length ?? 0;
}

/** The parent session of a sub-agent. */
export function toParent(
  origin: Session["origin"],
): Pick<PayloadOf<"session.created">, "parent_session_id"> {
  return origin?.parent === undefined ? {} : { parent_session_id: origin.parent.sessionId };
}

export function toFailed({
  failure,
  startMs,
  endMs,
  costPicoUsd,
  attemptCount = 1,
}: CallEntry): Omit<PayloadOf<"llm.call_failed">, About> {
  const cost = toUsd(costPicoUsd);
  return {
    error_class: failure === null ? "other" : toErrorClass(failure.kind),
    error_message_redacted: failure?.detail ?? "nothing arrived",
    retry_count: attemptCount - 1,
    latency_ms: endMs - startMs,
    // Failed attempts may have been billed.
    ...(cost === null ? {} : { cost_usd: cost }),
  };
}

type TurnSums = Omit<PayloadOf<"turn.completed">, "stop_reason">;

export function toTurnSums(calls: readonly CallEntry[], endMs: number): TurnSums {
  const usage = totalUsage(calls.map((call) => call.usage ?? noUsage));
  const startMs = calls[0]?.startMs ?? endMs;
  return {
    llm_call_count: calls.length,
    tool_call_count: calls.reduce((sum, call) => sum + countBlocks(call, "tool_use"), 0),
    total_input_tokens: promptTokens(usage),
    total_output_tokens: generatedTokens(usage),
    total_cost_usd: toUsd(totalCost(calls)),
    wall_time_seconds: Math.max(0, endMs - startMs) / 1000,
  };
}

/** The sum of all known costs. Null if calls were billed but no cost is known. */
export function totalCost(calls: readonly CallEntry[]): bigint | null {
  const known = calls.flatMap(({ costPicoUsd }) => (costPicoUsd === null ? [] : [costPicoUsd]));
  const isBilled = calls.some(
    ({ status, discarded }) => status !== "failed" || discarded.length > 0,
  );
  if (known.length === 0 && isBilled) return null;
  return known.reduce((sum, each) => sum + each, 0n);
}

export function toCancelled(
  { llm_call_count: partial_llm_calls, tool_call_count: partial_tool_calls }: TurnSums,
  reason: unknown,
): PayloadOf<"turn.cancelled"> {
  return { reason: toCancelReason(reason), partial_llm_calls, partial_tool_calls };
}

/** Recognises the reason of `AbortSignal.timeout`, and a server's `client_disconnect`. Any other reason counts as the user's wish. */
function toCancelReason(reason: unknown): PayloadOf<"turn.cancelled">["reason"] {
  if (isTimeout(reason)) return "timeout";
  if (!(reason instanceof Error)) return "user_cancel";
  return reason.message === "client_disconnect" ? "client_disconnect" : "user_cancel";
}

export function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === "TimeoutError";
}

export type TurnErrorKind = PayloadOf<"turn.failed">["error_kind"];

type TurnError = Pick<PayloadOf<"turn.failed">, "error_kind" | "error_message_redacted">;

export function toTurnError(how: TurnEnding, last: CallEntry | undefined): TurnError {
  const failure = last?.failure ?? null;
  return {
    error_kind: failure === null ? "model_error" : errorKinds[toErrorClass(failure.kind)],
    error_message_redacted: failure?.detail ?? how,
  };
}

const errorKinds: Readonly<Record<PayloadOf<"llm.call_failed">["error_class"], TurnErrorKind>> = {
  rate_limit: "rate_limit",
  auth: "auth_failure",
  server_error: "model_error",
  network: "timeout",
  context_overflow: "context_overflow",
  invalid_request: "model_error",
  cancelled: "unknown",
  spending_cap: "spending_cap",
  other: "unknown",
};
