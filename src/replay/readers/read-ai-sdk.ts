// Reads what the AI SDK's devtools record: runs, and for each run the steps with prompt and usage.
import {
  countIn,
  fieldsIn,
  fieldsOf,
  isObject,
  listIn,
  parseFields,
  textIn,
  type Fields,
} from "../../core/message/fields.ts";
import { findProtocolCalled } from "../../core/wire/foreign/recognise-protocol.ts";
import type { Recorded } from "../recording.ts";
import type { Drafting } from "./block-draft.ts";
import { skip, timeMsOf, type LineReader, type Source } from "./line-reader.ts";
import { draftOther } from "./forms/other-messages.ts";
import { toSessions, toUsage, type TracedCall } from "./traced-calls.ts";

export function isAiSdk(line: Fields): boolean {
  return Array.isArray(line["runs"]) && Array.isArray(line["steps"]);
}

export function createAiSdkReader(source: Source): LineReader {
  const { file, drafting } = source;
  const calls: TracedCall[] = [];
  return {
    read(line, number) {
      if (!isAiSdk(line)) return [skip(file, number, "it holds no steps")];
      return listIn(line, "steps").flatMap((each): Recorded[] => {
        const call = readStep(fieldsOf(each), number, drafting);
        if (typeof call === "string") return [skip(file, number, call)];
        calls.push(call);
        return [];
      });
    },
    end: () => toSessions(calls, "ai-sdk", source),
  };
}

/** The call, or why it cannot be used. */
function readStep(step: Fields, line: number, drafting: Drafting): TracedCall | string {
  const id = textIn(step, "id") ?? "";
  const provider = textIn(step, "provider")?.split(".")[0] ?? "";
  const protocol = findProtocolCalled(provider);
  const usage = usageOf(parseFields(textIn(step, "usage") ?? "") ?? {});
  if (usage === null) {
    return typeof step["error"] === "string" ? "the call failed" : "the call has no usage";
  }
  const startMs = timeMsOf(step["started_at"]);
  const tookMs = countIn(step, "duration_ms") ?? null;
  const input = parseFields(textIn(step, "input") ?? "") ?? {};
  const messages = listIn(input, "prompt");
  const tools = listIn(input, "tools");
  return {
    line,
    id,
    place: id,
    parent: null,
    conversation: textIn(step, "run_id") ?? id,
    agent: null,
    program: null,
    wire: protocol?.name ?? null,
    model: textIn(step, "model_id") ?? null,
    startMs,
    endMs: startMs === null || tookMs === null ? null : startMs + tookMs,
    usage: toUsage(usage, protocol?.foreign.cacheDefaults.lifetime ?? "30m"),
    prompt:
      messages.length === 0
        ? null
        : draftOther({ messages, ...(tools.length === 0 ? {} : { tools }) }, drafting),
  };
}

/** Newer versions split input and output; older ones have the total, and beside it what was cached. */
function usageOf(usage: Fields): Parameters<typeof toUsage>[0] | null {
  const isSplit = isObject(usage["inputTokens"]);
  const input = fieldsIn(usage, "inputTokens");
  const output = fieldsIn(usage, "outputTokens");
  const total = isSplit ? countIn(input, "total") : countIn(usage, "inputTokens");
  if (total === undefined) return null;
  const count = (split: number | undefined, name: string): number =>
    (isSplit ? split : countIn(usage, name)) ?? 0;
  return {
    input: total,
    read: count(countIn(input, "cacheRead"), "cachedInputTokens"),
    written: countIn(input, "cacheWrite") ?? 0,
    writtenShort: 0,
    writtenLong: 0,
    output: count(countIn(output, "total"), "outputTokens"),
    reasoning: count(countIn(output, "reasoning"), "reasoningTokens"),
  };
}
