// Where a conversation may be cut: never between a tool use and its results; at the start of turns and calls.
import type { Message } from "../../message/message.ts";
import type { HistoryMessage } from "../history.ts";

export interface CutPlaces {
  /** The leading notes of an earlier compaction and the repeated request. Not part of a turn. */
  readonly headLength: number;
  /** Where each turn begins, oldest first. The first may be the rest of a turn that was cut. */
  readonly turnStarts: readonly number[];
  /** No tool use before this place is answered at or after it. */
  readonly isFree: (at: number) => boolean;
  /** Right before a reply that is not the first of its turn, without splitting a tool use from its result. */
  readonly isCallEdge: (at: number) => boolean;
  readonly tokensFrom: (at: number) => number;
}

export function findCutPlaces(history: readonly HistoryMessage[]): CutPlaces {
  const headLength = countHead(history);
  const turnStarts = findTurnStarts(history, headLength);
  const bound = findBoundPlaces(history.map(({ message }) => message));
  const after = sumFromEnd(history);
  const firstReplies = new Set(turnStarts.map((start) => findReply(history, start)));
  const isFree = (at: number): boolean => !bound.has(at) && history[at]?.message.role !== "tool";
  return {
    headLength,
    turnStarts,
    isFree,
    isCallEdge: (at) =>
      at > headLength &&
      history[at]?.message.role === "assistant" &&
      !firstReplies.has(at) &&
      isFree(at),
    tokensFrom: (at) => after[at] ?? 0,
  };
}

/** A message from a person or an event, not only tool results. */
export function isAsked({ message }: Pick<HistoryMessage, "message">): boolean {
  return message.role === "user" && message.content.some(({ type }) => type !== "tool_result");
}

export function countHead(history: readonly HistoryMessage[]): number {
  const end = history.findIndex(({ compactionPart }) => compactionPart === undefined);
  return end === -1 ? history.length : end;
}

function findTurnStarts(history: readonly HistoryMessage[], from: number): number[] {
  const starts: number[] = [];
  for (let at = from; at < history.length; at += 1) {
    if (at === from || history[at]?.turnId !== history[at - 1]?.turnId) starts.push(at);
  }
  return starts;
}

/** The rest of a cut turn begins with its first reply. */
function findReply(history: readonly HistoryMessage[], start: number): number {
  let at = start;
  while (at < history.length && history[at]?.message.role !== "assistant") at += 1;
  return at;
}

/**
 * Every place between a tool use and its result, at any distance. Planner and ledger use the same rule. A use binds the
 * end of a conversation while its result may still come. After another message than a result it never comes.
 */
export function findBoundPlaces(
  messages: readonly Pick<Message, "role" | "content">[],
): ReadonlySet<number> {
  const usedAt = new Map<string, number>();
  /** How many more uses wait for their results from this place on. */
  const changes: number[] = Array.from({ length: messages.length + 1 }, () => 0);
  for (const [at, { content }] of messages.entries()) {
    for (const block of content) {
      if (block.type === "tool_use") usedAt.set(block.id, at);
      if (block.type !== "tool_result") continue;
      const from = usedAt.get(block.toolUseId) ?? at;
      changes[from + 1] = (changes[from + 1] ?? 0) + 1;
      changes[at + 1] = (changes[at + 1] ?? 0) - 1;
      usedAt.delete(block.toolUseId);
    }
  }
  const last = messages.findLastIndex(({ role }) => role !== "tool");
  if ([...usedAt.values()].includes(last)) changes[last + 1] = (changes[last + 1] ?? 0) + 1;
  const bound = new Set<number>();
  let waiting = 0;
  for (const [place, change] of changes.entries()) {
    waiting += change;
    if (waiting > 0) bound.add(place);
  }
  return bound;
}

function sumFromEnd(history: readonly HistoryMessage[]): readonly number[] {
  const sums: number[] = Array.from({ length: history.length + 1 }, () => 0);
  for (let at = history.length - 1; at >= 0; at -= 1) {
    sums[at] = (sums[at + 1] ?? 0) + (history[at]?.tokens ?? 0);
  }
  return sums;
}
