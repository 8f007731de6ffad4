// Their numbers → our buckets: uncached, read, written, output, reasoning.
import { countIn, fieldsIn, fieldsOf } from "../../../message/fields.ts";
import { toReportedUsage, unreportedUsage } from "../usage.ts";
import type { ReportedUsage } from "../../reply.ts";

/** Also reads providers that report hits and misses beside the total instead of in its details. */
export function readChatUsage(value: unknown): ReportedUsage {
  if (typeof value !== "object" || value === null) return unreportedUsage();
  const usage = fieldsOf(value);
  const details = fieldsIn(usage, "prompt_tokens_details");
  const hit = countIn(usage, "prompt_cache_hit_tokens");
  const miss = countIn(usage, "prompt_cache_miss_tokens");
  const bySum = hit === undefined || miss === undefined ? undefined : hit + miss;
  return toReportedUsage({
    promptTokens: countIn(usage, "prompt_tokens") ?? bySum,
    readTokens: countIn(details, "cached_tokens") ?? hit ?? countIn(usage, "cached_tokens"),
    writtenTokens: countIn(details, "cache_write_tokens"),
    writtenPerLifetime: {},
    generatedTokens: countIn(usage, "completion_tokens"),
    reasoningTokens: countIn(fieldsIn(usage, "completion_tokens_details"), "reasoning_tokens"),
  });
}
