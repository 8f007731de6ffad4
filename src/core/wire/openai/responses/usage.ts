// Their numbers → our buckets: uncached, read, written per lifetime, output, reasoning.
import { fieldsIn, fieldsOf, isObject, textIn, type Fields } from "../../../message/fields.ts";
import { createCountReader, toReportedUsage, unreportedUsage, withServiceTier } from "../usage.ts";
import type { ReportedUsage } from "../../reply.ts";

/** Events that end a stream carry the whole response. */
export function findResponsesUsage(answer: Fields): unknown {
  const response = isObject(answer["usage"]) ? answer : fieldsIn(answer, "response");
  return withServiceTier(response["usage"] ?? undefined, response);
}

export function readResponsesUsage(value: unknown): ReportedUsage {
  if (typeof value !== "object" || value === null) return unreportedUsage();
  const usage = fieldsOf(value);
  const warnings: string[] = [];
  const count = createCountReader(warnings);
  const details = fieldsIn(usage, "input_tokens_details");
  const perLifetime = fieldsIn(details, "cache_write_tokens_details");
  return toReportedUsage(
    {
      promptTokens: count(usage, "input_tokens"),
      readTokens: count(details, "cached_tokens"),
      writtenTokens: count(details, "cache_write_tokens"),
      writtenPerLifetime: {
        "30m": count(perLifetime, "ttl_30m_tokens") ?? 0,
        "12h": count(perLifetime, "ttl_12h_tokens") ?? 0,
      },
      generatedTokens: count(usage, "output_tokens"),
      reasoningTokens: count(fieldsIn(usage, "output_tokens_details"), "reasoning_tokens"),
      serviceTier: textIn(usage, "service_tier"),
    },
    warnings,
  );
}
