// Replaces old results of bulky tools with a line about what stood there and how to get it back. One batch, or none.
import type { Message, ToolResultBlock } from "../../message/message.ts";
import { countBytes } from "../../layers/cut-middle.ts";
import type { HistoryMessage } from "../history.ts";
import type { ClearingSettings } from "./settings.ts";
import type { RecallHint } from "./recall-hint.ts";

export interface ClearingPlan {
  /** Oldest first. */
  readonly cleared: readonly ClearedResult[];
  /** The whole history with the cleared messages. */
  readonly history: readonly HistoryMessage[];
  readonly savedTokens: number;
  /** Nothing changed from here on. */
  readonly protectedFrom: number;
}

export interface ClearedResult {
  readonly at: number;
  readonly toolUseId: string;
  readonly toolName: string;
  readonly bytes: number;
  readonly savedTokens: number;
}

export interface ClearingQuestion {
  readonly settings: ClearingSettings;
  /** Nothing from here on may change. */
  readonly protectedFrom: number;
  /** The size of the whole prompt, to compare the gain with. */
  readonly contextTokens: number;
  readonly countMessage: (message: Message) => number;
  readonly recallHint: RecallHint;
}

/** Null if the gain is too small to break the cache. Clearing a cleared history changes nothing. */
export function planClearing(
  history: readonly HistoryMessage[],
  question: ClearingQuestion,
): ClearingPlan | null {
  const stale = findStale(history, question);
  const changed = new Map<number, HistoryMessage>();
  const cleared: ClearedResult[] = [];
  for (const at of new Set(stale.map((each) => each.at))) {
    const before = history[at];
    if (before === undefined) continue;
    const here = stale.filter((each) => each.at === at);
    const message = clearIn(before.message, here, question.recallHint);
    const tokens = question.countMessage(message);
    const savedTokens = before.tokens - tokens;
    if (savedTokens <= 0) continue;
    changed.set(at, { ...before, message, tokens });
    cleared.push(
      ...here.map((each) => ({ ...each, savedTokens: Math.round(savedTokens / here.length) })),
    );
  }
  const savedTokens = cleared.reduce((sum, each) => sum + each.savedTokens, 0);
  if (!isWorthIt(savedTokens, question)) return null;
  const { protectedFrom } = question;
  const after = history.map((each, at) => changed.get(at) ?? each);
  return { cleared, savedTokens, protectedFrom, history: after };
}

type StaleResult = Omit<ClearedResult, "savedTokens">;

function findStale(
  history: readonly HistoryMessage[],
  { settings, protectedFrom }: ClearingQuestion,
): readonly StaleResult[] {
  const names = new Map<string, string>();
  const results: StaleResult[] = [];
  for (const [at, { message }] of history.entries()) {
    for (const block of message.content) {
      if (block.type === "tool_use") names.set(block.id, block.name);
      if (block.type !== "tool_result") continue;
      const { toolUseId } = block;
      const toolName = names.get(toolUseId) ?? "";
      results.push({ at, toolUseId, toolName, bytes: bytesOf(block) });
    }
  }
  return results
    .slice(0, Math.max(0, results.length - settings.resultsKept))
    .filter(
      ({ at, toolName, bytes }) =>
        at < protectedFrom && bytes > settings.thresholdBytes && settings.tools.includes(toolName),
    );
}

/** Counts text only; we cannot measure other blocks. */
function bytesOf({ content }: ToolResultBlock): number {
  const bytes = content.map((block) => (block.type === "text" ? countBytes(block.text) : 0));
  return bytes.reduce((sum, each) => sum + each, 0);
}

function clearIn(
  { role, content }: Message,
  stale: readonly StaleResult[],
  recallHint: RecallHint,
): Message {
  return {
    role,
    content: content.map((block) => {
      if (block.type !== "tool_result") return block;
      const found = stale.find(({ toolUseId }) => toolUseId === block.toolUseId);
      if (found === undefined) return block;
      const { type, toolUseId, isError } = block;
      return {
        type,
        toolUseId,
        isError,
        content: [{ type: "text", text: toMarker(found, recallHint) }],
      };
    }),
  };
}

/** Shorter than any threshold, so it is never cleared again. */
function toMarker({ toolName, bytes, toolUseId }: StaleResult, recallHint: RecallHint): string {
  return `[Old output of ${toolName}, ${bytes} bytes, was cleared: ${recallHint(toolUseId)}]`;
}

function isWorthIt(savedTokens: number, { settings, contextTokens }: ClearingQuestion): boolean {
  if (savedTokens <= 0) return false;
  return (
    savedTokens >= settings.gainTokensMin || savedTokens >= settings.gainShareMin * contextTokens
  );
}
