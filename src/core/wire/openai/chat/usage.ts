// Their numbers → our buckets: uncached, read, written, output, reasoning.
import { fieldsIn, fieldsOf } from "../../../message/fields.ts";
import { createCountReader, toReportedUsage, unreportedUsage } from "../usage.ts";
import type { ReportedUsage } from "../../reply.ts";

/** Also reads providers that report hits and misses beside the total instead of in its details. */
export function readChatUsage(value: unknown): ReportedUsage {
  if (typeof value !== "object" || value === null) return unreportedUsage();
  const usage = fieldsOf(value);
  const warnings: string[] = [];
  const count = createCountReader(warnings);
  const details = fieldsIn(usage, "prompt_tokens_details");
  const hit = count(usage, "prompt_cache_hit_tokens");
  const miss = count(usage, "prompt_cache_miss_tokens");
  const bySum = hit === undefined || miss === undefined ? undefined : hit + miss;
  return toReportedUsage(
    {
      promptTokens: count(usage, "prompt_tokens") ?? bySum,
      readTokens: count(details, "cached_tokens") ?? hit ?? count(usage, "cached_tokens"),
      writtenTokens: count(details, "cache_write_tokens"),
      writtenPerLifetime: {},
      generatedTokens: count(usage, "completion_tokens"),
      reasoningTokens: count(fieldsIn(usage, "completion_tokens_details"), "reasoning_tokens"),
    },
    warnings,
  );
}
