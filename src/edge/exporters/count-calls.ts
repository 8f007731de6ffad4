// Calls as metrics: tokens, dollars, cache savings and losses, error of the estimates.
import type { EventType } from "../../core/events/event-catalogue.ts";
import type { EventOf } from "../../core/events/event.ts";
import { findCost } from "../../core/models/cost.ts";
import { noUsage } from "../../core/message/usage.ts";
import type { DriftLabels } from "../../core/tokens/drift.ts";
import type { CountContext } from "./count-context.ts";

type Completed = EventOf<"llm.call_completed">;

export function countCallStarted(event: EventOf<"llm.call_started">, context: CountContext): void {
  const tokens = event.payload.estimated_input_tokens;
  context.set("llm_prompt_tokens_estimated", labelsOf(event, context), tokens);
  context.estimates.begin(event.id, tokens);
}

export function countCallCompleted(event: Completed, context: CountContext): void {
  const { add, note } = context;
  const { payload } = event;
  const labels = labelsOf(event, context);
  const { provider, model } = labels;
  add("llm_calls_total", { ...labels, outcome: "completed" });
  note("llm_call_duration_seconds", { provider, model }, payload.latency_ms / 1000);
  countTokens(payload, labels, context);
  add("llm_tool_uses_total", labels, payload.produced_tool_calls);
  if (payload.usage_refused === true) add("llm_usage_refused_total", labels);
  const { diagnosis_agreement: agreement } = payload;
  if (agreement !== undefined)
    add("llm_cache_diagnoses_total", { agent: labels.agent, provider, agreement });
  countShares(labels.agent, payload, context);
  countDrift(event, labels, context);
  countCost(event, labels, context);
}

export function countCallFailed(event: EventOf<"llm.call_failed">, context: CountContext): void {
  const { payload, parentEventId } = event;
  const labels = labelsOf(event, context);
  const { provider, model } = labels;
  context.add("llm_calls_total", { ...labels, outcome: payload.error_class });
  context.note("llm_call_duration_seconds", { provider, model }, payload.latency_ms / 1000);
  if (parentEventId !== null) context.estimates.end(parentEventId);
  const { cost_usd: usd } = payload;
  if (usd === undefined) return;
  if (!context.add("llm_cost_usd_total", labels, Number(usd))) context.unread(event.type);
}

export function countMiss(event: EventOf<"cache.miss">, context: CountContext): void {
  const { cause, lost_tokens: tokens, lost_cost_usd: usd } = event.payload;
  const labels = { agent: context.agentOf(event), cause };
  context.add("llm_cache_misses_total", labels);
  context.add("llm_cache_lost_tokens_total", labels, tokens);
  if (usd === null) return;
  if (!context.add("llm_cache_lost_usd_total", labels, Number(usd))) context.unread(event.type);
}

export function countWarmed(event: EventOf<"cache.warmed">, context: CountContext): void {
  const { purpose, outcome, cost_usd: usd } = event.payload;
  const agent = context.agentOf(event);
  context.add("llm_cache_warm_calls_total", { agent, purpose, outcome });
  if (usd === null) return;
  const isAdded = context.add("llm_cache_warm_cost_usd_total", { agent, purpose }, Number(usd));
  if (!isAdded) context.unread(event.type);
}

/** Its agent is the program that sent it. What the provider did not say is counted nowhere. */
export function countGatewayCall(event: EventOf<"gateway.call">, context: CountContext): void {
  const { add, note } = context;
  const { payload } = event;
  const labels = labelsOf(event, context);
  const { provider, model } = labels;
  const { input_tokens: input, output_tokens: output } = payload;
  const outcome = payload.status === "complete" ? "completed" : (payload.failure ?? payload.status);
  add("llm_calls_total", { ...labels, outcome });
  note("llm_call_duration_seconds", { provider, model }, payload.latency_ms / 1000);
  if (input === null || output === null) return;
  const billed = {
    ...payload,
    input_tokens: input,
    output_tokens: output,
    cached_input_tokens: payload.cached_input_tokens ?? 0,
    cache_creation_input_tokens: payload.cache_creation_input_tokens ?? 0,
  };
  countTokens(billed, labels, context);
  if (payload.cached_input_tokens !== null) countShares(labels.agent, billed, context);
  countCost({ ...event, payload: billed }, labels, context);
}

type CallEvent = EventOf<
  "llm.call_started" | "llm.call_completed" | "llm.call_failed" | "gateway.call"
>;

function labelsOf(event: CallEvent, { labels, agentOf }: CountContext): DriftLabels {
  const { provider, model } = event.payload;
  return { agent: agentOf(event), provider: labels.provider(provider), model: labels.model(model) };
}

/** What a call was billed for. */
type Billed = Pick<
  Completed["payload"],
  | "model"
  | "provider"
  | "input_tokens"
  | "output_tokens"
  | "cached_input_tokens"
  | "cache_creation_input_tokens"
  | "cost_usd"
>;

interface BilledEvent extends Pick<Completed, "timestampUs"> {
  readonly type: EventType;
  readonly payload: Billed;
}

function countTokens(payload: Billed, labels: DriftLabels, { add }: CountContext): void {
  add("llm_cache_read_tokens_total", labels, payload.cached_input_tokens);
  add("llm_cache_creation_tokens_total", labels, payload.cache_creation_input_tokens);
  add("llm_tokens_total", { ...labels, kind: "uncached" }, payload.input_tokens);
  add("llm_tokens_total", { ...labels, kind: "cache_read" }, payload.cached_input_tokens);
  add("llm_tokens_total", { ...labels, kind: "cache_write" }, payload.cache_creation_input_tokens);
  add("llm_tokens_total", { ...labels, kind: "output" }, payload.output_tokens);
}

/** Over everything since the start, like the counters. For a window, divide the rates of the counters. */
function countShares(agent: string, payload: Billed, context: CountContext): void {
  const before = context.prompts.get(agent);
  const readTokens = (before?.readTokens ?? 0) + payload.cached_input_tokens;
  const writtenTokens = (before?.writtenTokens ?? 0) + payload.cache_creation_input_tokens;
  const uncachedTokens = (before?.uncachedTokens ?? 0) + payload.input_tokens;
  context.prompts.set(agent, { readTokens, writtenTokens, uncachedTokens });
  const prompt = readTokens + writtenTokens + uncachedTokens;
  if (prompt === 0) return;
  context.set("llm_cache_hit_ratio", { agent }, readTokens / prompt);
  context.set("llm_cache_coverage_ratio", { agent }, (readTokens + writtenTokens) / prompt);
}

function countDrift(event: Completed, labels: DriftLabels, context: CountContext): void {
  const { parentEventId, payload } = event;
  const estimated = parentEventId === null ? undefined : context.estimates.end(parentEventId);
  const actual = promptOf(payload);
  // Without reported usage there is nothing to compare with.
  if (actual === 0) return;
  if (estimated === undefined) {
    context.unread(event.type);
    return;
  }
  const percent = (Math.abs(estimated - actual) / actual) * 100;
  context.note("llm_prompt_tokens_drift", labels, percent);
}

function countCost(event: BilledEvent, labels: DriftLabels, context: CountContext): void {
  const { cost_usd: usd } = event.payload;
  const plainUsd = costWithoutCache(event, context);
  if (usd === null || plainUsd === null) context.add("llm_calls_unpriced_total", labels);
  if (usd === null) return;
  if (!context.add("llm_cost_usd_total", labels, Number(usd))) {
    context.unread(event.type);
    return;
  }
  if (plainUsd === null) return;
  context.add("llm_cost_without_cache_usd_total", labels, plainUsd);
  context.shift("llm_cache_savings_usd", labels, plainUsd - Number(usd));
}

/** In dollars as a float, good enough for graphs; the ledger has the exact amounts. */
function costWithoutCache(
  { payload, timestampUs }: BilledEvent,
  { priceOf }: CountContext,
): number | null {
  const price = priceOf(payload.model, payload.provider);
  if (price === null) return null;
  const plain = {
    ...noUsage,
    uncachedTokens: promptOf(payload),
    outputTokens: payload.output_tokens,
  };
  const { cost } = findCost(plain, price, { at: Math.floor(timestampUs / 1000) });
  return cost === null ? null : Number(cost.totalPicoUsd) / 1e12;
}

function promptOf(payload: Billed): number {
  return payload.input_tokens + payload.cached_input_tokens + payload.cache_creation_input_tokens;
}
