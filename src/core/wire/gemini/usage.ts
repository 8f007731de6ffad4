// Their numbers → our buckets: uncached, read, written, output, reasoning.
import { isCount, isObject, onlyPresent, type Fields } from "../../message/fields.ts";
import { noUsage, type Usage } from "../../message/usage.ts";
import type { ReportedUsage } from "../reply.ts";

/** Counts in a stream are of the whole reply so far: for each the last event that has it counts. */
export function joinUsage(before: Fields, after: Fields): Fields {
  // An event usually repeats every count.
  for (const name in before) {
    if (after[name] === undefined || after[name] === null) {
      return { ...before, ...onlyPresent(after) };
    }
  }
  return after;
}

/** The prompt includes what was read; thoughts are not part of the candidates. Writing costs nothing and is not reported. */
export function readUsage(value: unknown): ReportedUsage {
  if (!isObject(value) || Object.keys(value).length === 0) {
    const warnings = ["the reply reports no usage"];
    return { usage: noUsage, isReported: false, reportsCache: false, warnings };
  }
  const warnings: string[] = [];
  const count = (name: string): number | undefined => countIn(value, name, warnings);
  const prompt = count("promptTokenCount");
  const read = count("cachedContentTokenCount");
  const candidates = count("candidatesTokenCount");
  const thoughts = count("thoughtsTokenCount");
  // What the provider's own tools found is read by the model as well.
  const promptTokens = (prompt ?? 0) + (count("toolUsePromptTokenCount") ?? 0);
  const readTokens = Math.min(read ?? 0, promptTokens);
  if (readTokens < (read ?? 0)) {
    warnings.push(`${read} tokens read of a prompt of ${promptTokens}: the rest is left out`);
  }
  const usage: Usage = {
    uncachedTokens: promptTokens - readTokens,
    cacheReadTokens: readTokens,
    cacheWriteTokens: {},
    outputTokens: candidates ?? 0,
    reasoningTokens: thoughts ?? 0,
  };
  return {
    usage,
    isReported: [prompt, candidates, thoughts].some((each) => each !== undefined),
    reportsCache: read !== undefined,
    warnings,
  };
}

/** Undefined if absent. What is no count is named and taken as absent. */
function countIn(fields: Fields, name: string, warnings: string[]): number | undefined {
  const value = fields[name] ?? undefined;
  if (value === undefined || isCount(value)) return value;
  const shown = typeof value === "number" ? String(value) : typeof value;
  warnings.push(`${name} is no count (${shown}) and taken as absent`);
  return undefined;
}
