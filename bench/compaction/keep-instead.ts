// What other methods keep of the same history within the tokens of our compaction, as text.
import type { HistoryMessage } from "../../src/core/compaction/history.ts";
import type { CompactionCase } from "./cases.ts";
import { findWords, textOf } from "./needed.ts";

/** Kept text by method, without the tail: needed identifiers are not in it. */
export function keepInstead(
  each: CompactionCase,
  indexTokens: number,
  summaryTokens: number,
): ReadonlyMap<string, string> {
  const { history, tailFrom, repeated } = each;
  const compacted = history.slice(0, tailFrom);
  const roomTokens = indexTokens + summaryTokens + sumTokens(repeated);
  return new Map([
    ["plain frequency index", `${frequencyIndex(each, indexTokens)}\n${textOf(repeated)}`],
    ["tail only", textOf(newest(compacted, roomTokens))],
    ["head + tail", textOf(oldest(compacted, roomTokens))],
    ["drop-oldest", textOf(newestTurns(compacted, roomTokens))],
    ["tool-result clearing only", textOf(newest(compacted.map(clear), roomTokens))],
  ]);
}

/** Identifiers by frequency, one per line. */
function frequencyIndex(
  { history, tailFrom, countText }: CompactionCase,
  tokensMax: number,
): string {
  const counts = new Map<string, number>();
  for (const word of findWords(textOf(history.slice(0, tailFrom)))) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const lines: string[] = [];
  let tokens = 0;
  for (const [word] of [...counts].toSorted(([, left], [, right]) => right - left)) {
    tokens += countText(`${word}\n`);
    if (tokens > tokensMax) break;
    lines.push(word);
  }
  return lines.join("\n");
}

function newest(messages: readonly HistoryMessage[], tokensMax: number): HistoryMessage[] {
  return oldest(messages.toReversed(), tokensMax).toReversed();
}

function oldest(messages: readonly HistoryMessage[], tokensMax: number): HistoryMessage[] {
  let tokens = 0;
  const until = messages.findIndex((message) => (tokens += message.tokens) > tokensMax);
  return messages.slice(0, until === -1 ? messages.length : until);
}

/** The newest whole turns that fit. */
function newestTurns(messages: readonly HistoryMessage[], tokensMax: number): HistoryMessage[] {
  const kept = newest(messages, tokensMax);
  const cut = messages[messages.length - kept.length - 1]?.turnId;
  return kept.filter(({ turnId }) => turnId !== cut);
}

const clearedTokens = 12;

function clear(each: HistoryMessage): HistoryMessage {
  if (each.message.role !== "tool") return each;
  return { ...each, message: { ...each.message, content: [] }, tokens: clearedTokens };
}

function sumTokens(messages: readonly HistoryMessage[]): number {
  return messages.reduce((total, { tokens }) => total + tokens, 0);
}
