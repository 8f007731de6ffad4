// What the caller of a turn sees of it: parts in order, with words joined, and the result.
import type { CallEntry, TurnHandle, TurnPart, TurnResult } from "./kit.ts";
import type { Stage } from "./stage.ts";

export interface WatchOptions {
  /** Told of each part as it comes. */
  readonly onPart?: (part: TurnPart) => void;
}

/** Null where the turn threw. */
export async function watchTurn(
  stage: Pick<Stage, "parts" | "results">,
  handle: TurnHandle,
  { onPart = () => {} }: WatchOptions = {},
): Promise<TurnResult | null> {
  const seen: unknown[] = [];
  for await (const part of handle) {
    addPart(seen, part);
    onPart(part);
  }
  stage.parts.push({ turn: handle.turnId, parts: endsInOrder(seen) });
  try {
    const run = await handle.result;
    stage.results.push({ turn: handle.turnId, ...toResult(run) });
    return run;
  } catch (error) {
    stage.results.push({ turn: handle.turnId, threw: describe(error) });
    return null;
  }
}

export function expectRun(run: TurnResult | null): TurnResult {
  if (run === null) throw new Error("the turn threw");
  return run;
}

/** Without the session, which is the engine's own, and without what the ledger's rows say. */
export function toResult({ end, calls, unsaid }: TurnResult): object {
  return { end, calls: calls.map(toCall), ...(unsaid === undefined ? {} : { unsaid }) };
}

export function toCall(entry: CallEntry): object {
  const { number, model, status, stopReason, usage, costPicoUsd, failure, verdict } = entry;
  return {
    call: `${number} to ${model}: ${status}, ${stopReason ?? "no stop"}, ${verdict?.kind ?? "no verdict"}`,
    bill: usage === null ? "not told" : `${toBill(usage)} = ${costPicoUsd} pico-dollars`,
    ...(failure === null ? {} : { failure }),
    sent: entry.sent.map(({ role }) => role).join(", "),
    ...(entry.reply === null ? {} : { reply: JSON.stringify(entry.reply.content) }),
  };
}

function toBill(usage: NonNullable<CallEntry["usage"]>): string {
  const { uncachedTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = usage;
  const written = JSON.stringify(cacheWriteTokens);
  return `${uncachedTokens} + ${cacheReadTokens} read + ${written} written + ${outputTokens} output`;
}

/** What went wrong, in words that stay. */
export function describe(error: unknown): object {
  if (!(error instanceof Error)) return { thrown: String(error) };
  const code = "code" in error ? { code: error.code } : {};
  return { name: error.name, message: error.message, ...code };
}

/** Parts of a turn by the names the records were made with. */
const recordedNames = {
  started: "stream_start",
  text: "token",
  thinking: "reasoning",
  ended: "stream_end",
  failed: "stream_error",
} as const;

interface Words {
  readonly type: "token" | "reasoning";
  text: string;
  count: number;
}

function addPart(seen: unknown[], part: TurnPart): void {
  const last = seen.at(-1);
  switch (part.type) {
    case "text":
    case "thinking": {
      const type = recordedNames[part.type];
      if (isWords(last) && last.type === type) {
        last.text += part.text;
        last.count += 1;
      } else seen.push({ type, text: part.text, count: 1 } satisfies Words);
      return;
    }
    case "ended":
      seen.push({ type: recordedNames.ended, end: part.run.end });
      return;
    case "failed":
      seen.push({ type: recordedNames.failed, error: describe(part.error) });
      return;
    case "tool": {
      const { toolUseId, name, status, use, result } = part;
      const input = use === undefined ? {} : { input: use.inputJson };
      const text = result === undefined ? {} : { result: JSON.stringify(result.content) };
      seen.push({ tool: `${name} ${toolUseId} ${status}`, ...input, ...text });
      return;
    }
    case "phase":
      seen.push(part.phase);
      return;
    case "started":
      seen.push({ ...part, type: recordedNames.started });
      return;
    case "queued":
    case "route":
      seen.push(part);
      return;
    case "miss":
    // The records are older than this part; the event says the same.
  }
}

interface ToolSeen {
  readonly tool: string;
}

/** Tools that run beside each other end in any order: the record has their ends after all beginnings, in the same order. */
function endsInOrder(seen: readonly unknown[]): readonly unknown[] {
  const ordered: unknown[] = [];
  let ends: ToolSeen[] = [];
  let begun: string[] = [];
  const settle = (): void => {
    ordered.push(...ends.toSorted((one, other) => place(one) - place(other)));
    [ends, begun] = [[], []];
  };
  const place = ({ tool }: ToolSeen): number => begun.indexOf(useOf(tool));
  for (const each of seen) {
    if (!isTool(each)) settle();
    else if (!each.tool.endsWith(" running")) {
      ends.push(each);
      continue;
    } else begun.push(useOf(each.tool));
    ordered.push(each);
  }
  settle();
  return ordered;
}

/** The name and id of a use, without its status. */
function useOf(tool: string): string {
  return tool.slice(0, tool.lastIndexOf(" "));
}

function isTool(value: unknown): value is ToolSeen {
  return typeof value === "object" && value !== null && "tool" in value;
}

function isWords(value: unknown): value is Words {
  return typeof value === "object" && value !== null && "count" in value;
}
