// Their numbers → our buckets: uncached, read, written, output, reasoning.
import { fieldsIn, fieldsOf, isObject, textIn, type Fields } from "../../../message/fields.ts";
import { createCountReader, toReportedUsage, unreportedUsage } from "../usage.ts";
import type { ReportedUsage } from "../../reply.ts";

/**
 * Also reads providers that report hits and misses beside the total, or elsewhere than in its details: DeepSeek, Kimi,
 * Mistral, Qwen; and what OpenRouter charges.
 */
export function readChatUsage(value: unknown): ReportedUsage {
  if (typeof value !== "object" || value === null) return unreportedUsage();
  const usage = fieldsOf(value);
  const warnings: string[] = [];
  const count = createCountReader(warnings);
  const details = fieldsIn(usage, "prompt_tokens_details");
  const created = fieldsIn(details, "cache_creation");
  const hit = count(usage, "prompt_cache_hit_tokens");
  const miss = count(usage, "prompt_cache_miss_tokens");
  const bySum = hit === undefined || miss === undefined ? undefined : hit + miss;
  return toReportedUsage(
    {
      promptTokens: count(usage, "prompt_tokens") ?? bySum,
      readTokens:
        count(details, "cached_tokens") ??
        hit ??
        count(usage, "cached_tokens") ??
        count(fieldsIn(usage, "prompt_token_details"), "cached_tokens") ??
        count(usage, "num_cached_tokens"),
      writtenTokens:
        count(details, "cache_write_tokens") ?? count(details, "cache_creation_input_tokens"),
      writtenPerLifetime: { "5m": count(created, "ephemeral_5m_input_tokens") ?? 0 },
      generatedTokens: count(usage, "completion_tokens"),
      reasoningTokens: count(fieldsIn(usage, "completion_tokens_details"), "reasoning_tokens"),
      totalTokens: count(usage, "total_tokens"),
      costUsd: chargedIn(usage),
      prefillMs: msIn(usage, "prompt_ms"),
      serviceTier: textIn(usage, "service_tier"),
    },
    warnings,
  );
}

/**
 * The usage after one more chunk. Counts are of the whole reply: for each the last chunk that has it counts, and they are never
 * added. Null says nothing.
 */
export function joinUsage(before: unknown, after: unknown): unknown {
  if (!isObject(after)) return before;
  if (!isObject(before)) return after;
  const joined = new Map(Object.entries(before));
  for (const [name, value] of Object.entries(after)) {
    if (value === null || value === undefined) continue;
    const known = joined.get(name);
    joined.set(name, isObject(known) && isObject(value) ? { ...known, ...value } : value);
  }
  return Object.fromEntries(joined);
}

/** With a key of one's own at the host, the router's fee and the host's bill are apart. */
function chargedIn(usage: Fields): number | undefined {
  const cost = amountIn(usage, "cost");
  if (cost === undefined || usage["is_byok"] !== true) return cost;
  return cost + (amountIn(fieldsIn(usage, "cost_details"), "upstream_inference_cost") ?? 0);
}

function amountIn(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  return typeof value === "number" && value >= 0 && value < amountMax ? value : undefined;
}

function msIn(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  return typeof value === "number" && value >= 0 && Number.isFinite(value) ? value : undefined;
}

/** No call costs that much; a larger number is no amount. */
const amountMax = 1_000_000;
