// Their numbers → our buckets: uncached, read, written per lifetime, output, reasoning.
import { countIn, fieldsIn, fieldsOf, type Fields } from "../../../message/fields.ts";
import { toReportedUsage, unreportedUsage } from "../usage.ts";
import type { ReportedUsage } from "../../reply.ts";

/** Events that end a stream carry the whole response. */
export function findResponsesUsage(answer: Fields): unknown {
  return answer["usage"] ?? fieldsIn(answer, "response")["usage"] ?? undefined;
}

export function readResponsesUsage(value: unknown): ReportedUsage {
  if (typeof value !== "object" || value === null) return unreportedUsage();
  const usage = fieldsOf(value);
  const details = fieldsIn(usage, "input_tokens_details");
  const perLifetime = fieldsIn(details, "cache_write_tokens_details");
  return toReportedUsage({
    promptTokens: countIn(usage, "input_tokens"),
    readTokens: countIn(details, "cached_tokens"),
    writtenTokens: countIn(details, "cache_write_tokens"),
    writtenPerLifetime: {
      "30m": countIn(perLifetime, "ttl_30m_tokens") ?? 0,
      "12h": countIn(perLifetime, "ttl_12h_tokens") ?? 0,
    },
    generatedTokens: countIn(usage, "output_tokens"),
    reasoningTokens: countIn(fieldsIn(usage, "output_tokens_details"), "reasoning_tokens"),
  });
}
