// Their numbers → our buckets: uncached, read, write per lifetime, output, reasoning.
import {
  type Fields,
  fieldsIn,
  fieldsOf,
  isCount,
  isObject,
  listOf,
  textIn,
} from "../../message/fields.ts";
import * as usages from "../../message/usage.ts";
import type { ReportedUsage } from "../reply.ts";

/** The event that opens a stream carries the message so far. */
export function findUsage(answer: Fields): unknown {
  return answer["usage"] ?? fieldsIn(answer, "message")["usage"] ?? undefined;
}

/**
 * The usage of a stream: for each count the last event that has it counts; null says nothing. Some vendors that speak this protocol
 * begin with the whole prompt as `input_tokens` and say only at the end how much of it was cached.
 */
export function joinUsage(begun: Fields, later: Iterable<Fields>): Fields {
  const joined = new Map(Object.entries(begun));
  let isInputTold = false;
  for (const usage of later) {
    for (const [name, value] of Object.entries(usage)) {
      if (value === null || value === undefined) continue;
      joined.set(name, value);
      if (name === "input_tokens") isInputTold = true;
    }
  }
  const usage = Object.fromEntries(joined);
  const whole = countOf(begun, "input_tokens");
  const isLate = cachedIn(begun) === 0 && cachedIn(usage) > 0;
  if (isInputTold || !isLate || whole === 0) return usage;
  return { ...usage, input_tokens: Math.max(0, whole - cachedIn(usage)) };
}

function cachedIn(usage: Fields): number {
  return countOf(usage, "cache_read_input_tokens") + countOf(usage, "cache_creation_input_tokens");
}

function countOf(usage: Fields, name: string): number {
  const value = usage[name];
  return isCount(value) ? value : 0;
}

export function readUsage(value: unknown): ReportedUsage {
  if (!isObject(value)) {
    const warnings = ["the reply has no usage"];
    return { usage: usages.noUsage, isReported: false, reportsCache: false, warnings };
  }
  const total = readCounts(value);
  const iterations = listOf(value["iterations"]).map((each) => ({
    type: fieldsOf(each)["type"],
    ...readCounts(fieldsOf(each)),
  }));
  if (iterations.length === 0) return total;
  // A summary on demand is billed only in its iterations.
  if (tokensOf(total.usage) === 0) {
    return {
      usage: iterations.reduce((sum, { usage }) => usages.addUsage(sum, usage), usages.noUsage),
      isReported: total.isReported || iterations.some(({ isReported }) => isReported),
      reportsCache: total.reportsCache || iterations.some(({ reportsCache }) => reportsCache),
      warnings: [total, ...iterations].flatMap(({ warnings }) => warnings),
    };
  }
  const apart = iterations
    .filter(({ type }) => type === "compaction")
    .reduce((sum, { usage }) => sum + tokensOf(usage), 0);
  if (apart === 0) return total;
  const warning = `a compaction of ${apart} tokens was billed besides what is counted here`;
  return { ...total, warnings: [...total.warnings, warning] };
}

function tokensOf(usage: usages.Usage): number {
  return usages.promptTokens(usage) + usages.generatedTokens(usage);
}

function readCounts(fields: Fields): ReportedUsage {
  const warnings: string[] = [];
  const count = (from: Fields, key: string): number | null => {
    const value = from[key] ?? null;
    if (value === null || (Number.isSafeInteger(value) && Number(value) >= 0)) {
      return value === null ? null : Number(value);
    }
    warnings.push(`${key} is ${shown(value)}, taken as 0`);
    return 0;
  };
  // Qwen has it there.
  const read =
    count(fields, "cache_read_input_tokens") ??
    count(fieldsOf(fields["prompt_tokens_details"]), "cached_tokens");
  const created = count(fields, "cache_creation_input_tokens");
  const split = fieldsOf(fields["cache_creation"]);
  const writes = splitWrites(created, {
    short: count(split, "ephemeral_5m_input_tokens"),
    long: count(split, "ephemeral_1h_input_tokens"),
  });
  const uncached = count(fields, "input_tokens");
  const generated = count(fields, "output_tokens");
  const output = generated ?? 0;
  const thinking = count(fieldsOf(fields["output_tokens_details"]), "thinking_tokens") ?? 0;
  if (thinking > output) {
    warnings.push(`thinking_tokens is ${thinking}, more than output_tokens, which is ${output}`);
  }
  // The total is billed, so thinking cannot be more.
  const reasoningTokens = Math.min(thinking, output);
  return {
    usage: {
      uncachedTokens: uncached ?? 0,
      cacheReadTokens: read ?? 0,
      cacheWriteTokens: writes.tokens,
      outputTokens: output - reasoningTokens,
      reasoningTokens,
    },
    isReported: uncached !== null || generated !== null,
    reportsCache: read !== null || writes.isReported,
    warnings: [...warnings, ...writes.warnings],
    ...serviceOf(fields),
  };
}

/** A fast reply on a tier that is not the usual one has both words: no price is known for that. */
function serviceOf(fields: Fields): Pick<ReportedUsage, "serviceTier"> {
  const words = [textIn(fields, "service_tier"), textIn(fields, "speed")];
  const unusual = words.filter((word) => word !== undefined && word !== "" && word !== "standard");
  return unusual.length === 0 ? {} : { serviceTier: unusual.join(", ") };
}

interface SplitWrites {
  readonly tokens: usages.Usage["cacheWriteTokens"];
  readonly isReported: boolean;
  readonly warnings: readonly string[];
}

/** The total counts more than its split. Writes that the split does not name live for five minutes. */
function splitWrites(
  created: number | null,
  split: { readonly short: number | null; readonly long: number | null },
): SplitWrites {
  const isSplit = split.short !== null || split.long !== null;
  const named = (split.short ?? 0) + (split.long ?? 0);
  const total = created ?? named;
  const long = Math.min(split.long ?? 0, total);
  const short = total - long;
  return {
    tokens: { ...(short === 0 ? {} : { "5m": short }), ...(long === 0 ? {} : { "1h": long }) },
    isReported: created !== null || isSplit,
    warnings:
      isSplit && named !== total
        ? [`cache_creation adds up to ${named}, cache_creation_input_tokens is ${total}`]
        : [],
  };
}

function shown(value: unknown): string {
  return typeof value === "number" ? String(value) : `a ${typeof value}`;
}
