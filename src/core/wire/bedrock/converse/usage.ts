// Their numbers → our buckets: uncached, read, write per lifetime, output.
import {
  fieldsIn,
  fieldsOf,
  isCount,
  isObject,
  listIn,
  textIn,
  type Fields,
} from "../../../message/fields.ts";
import { lifetimes, noUsage, type Lifetime, type Usage } from "../../../message/usage.ts";
import type { ReportedUsage } from "../../reply.ts";

/** In a whole answer, or in the last event of a stream. */
export function findUsage(answer: Fields): unknown {
  return answer["usage"] ?? fieldsIn(answer, "metadata")["usage"] ?? undefined;
}

/** What was read and written stands beside `inputTokens`, not in it. Thinking is part of the output. */
export function readUsage(value: unknown): ReportedUsage {
  if (!isObject(value)) {
    const warnings = ["the reply has no usage"];
    return { usage: noUsage, isReported: false, reportsCache: false, warnings };
  }
  const warnings: string[] = [];
  const count = (fields: Fields, name: string): number | undefined => {
    const found = fields[name] ?? undefined;
    if (found === undefined || isCount(found)) return found;
    const shown = typeof found === "number" ? String(found) : `a ${typeof found}`;
    warnings.push(`${name} is ${shown}, taken as absent`);
    return undefined;
  };
  const [uncached, output] = [count(value, "inputTokens"), count(value, "outputTokens")];
  const read = count(value, "cacheReadInputTokens");
  const written = count(value, "cacheWriteInputTokens");
  const details = listIn(value, "cacheDetails").map(fieldsOf);
  const named = details.map((detail) => ({
    lifetime: lifetimes.find((each) => each === textIn(detail, "ttl")) ?? usualLifetime,
    tokens: count(detail, "inputTokens") ?? 0,
  }));
  const writes = splitWrites(written, named, warnings);
  const isNamed = named.length > 0 || writes.total === 0;
  return {
    usage: {
      uncachedTokens: uncached ?? 0,
      cacheReadTokens: read ?? 0,
      cacheWriteTokens: writes.tokens,
      outputTokens: output ?? 0,
      reasoningTokens: 0,
    },
    isReported: uncached !== undefined || output !== undefined,
    reportsCache: read !== undefined || written !== undefined || named.length > 0,
    ...(isNamed ? {} : { unnamedWriteTokens: { tokens: writes.total, standsAs: usualLifetime } }),
    warnings,
  };
}

/** The provider's default. */
const usualLifetime: Lifetime = "5m";

interface NamedWrite {
  readonly lifetime: Lifetime;
  readonly tokens: number;
}

/** The total counts more than its parts. Writes that no part names live for five minutes. */
function splitWrites(
  written: number | undefined,
  named: readonly NamedWrite[],
  warnings: string[],
): { readonly tokens: Usage["cacheWriteTokens"]; readonly total: number } {
  const sum = named.reduce((all, { tokens }) => all + tokens, 0);
  const total = written ?? sum;
  if (named.length > 0 && sum !== total) {
    warnings.push(`cacheDetails add up to ${sum}, cacheWriteInputTokens is ${total}`);
  }
  const tokens: Partial<Record<Lifetime, number>> = {};
  const give = (lifetime: Lifetime, count: number): void => {
    if (count > 0) tokens[lifetime] = (tokens[lifetime] ?? 0) + count;
  };
  let left = total;
  for (const each of named) {
    const taken = Math.min(each.tokens, left);
    give(each.lifetime, taken);
    left -= taken;
  }
  give(usualLifetime, left);
  return { tokens, total };
}
