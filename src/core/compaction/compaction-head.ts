// The messages of a compaction: its notes, the repeated request, and messages copied after them.
import { isCount, isObject } from "../message/fields.ts";
import type { HistoryMessage } from "./history.ts";

export interface CompactionHead {
  readonly noteCount: number;
  readonly requestCount: number;
  readonly copied: readonly CopiedRun[];
}

/** Consecutive messages of one turn that the compaction copied. */
export interface CopiedRun {
  readonly turnId: string;
  readonly index: number;
  readonly count: number;
}

export function toCopiedRuns(messages: readonly HistoryMessage[]): readonly CopiedRun[] {
  const runs: CopiedRun[] = [];
  for (const { turnId, index } of messages) {
    const last = runs.at(-1);
    if (last !== undefined && last.turnId === turnId && last.index + last.count === index) {
      runs[runs.length - 1] = { ...last, count: last.count + 1 };
    } else runs.push({ turnId, index, count: 1 });
  }
  return runs;
}

export interface HeadedHistory {
  /** Copied messages keep their original places, so turns begin and end where they did. */
  readonly history: readonly HistoryMessage[];
  /** How many messages the compaction stored. The ledger has the rest in their own turns. */
  readonly storedLength: number;
}

/** `head`: the head as it was recorded. If it does not fit the messages, all of the compaction's messages are notes. */
export function placeHead(
  messages: readonly HistoryMessage[],
  compactionTurnId: string | null,
  head: unknown,
): HeadedHistory {
  if (compactionTurnId === null) return { history: messages, storedLength: 0 };
  const end = messages.findIndex(({ turnId }) => turnId !== compactionTurnId);
  const storedLength = end === -1 ? messages.length : end;
  const stored = messages.slice(0, storedLength);
  const placed = isCompactionHead(head) ? place(stored, head) : null;
  const notes = stored.map((each) => ({ ...each, compactionPart: "notes" as const }));
  return { history: [...(placed ?? notes), ...messages.slice(storedLength)], storedLength };
}

function place(
  stored: readonly HistoryMessage[],
  { noteCount, requestCount, copied }: CompactionHead,
): readonly HistoryMessage[] | null {
  const places = copied.flatMap(({ turnId, index, count }) =>
    Array.from({ length: count }, (_, more) => ({ turnId, index: index + more })),
  );
  const madeCount = noteCount + requestCount;
  if (madeCount + places.length !== stored.length) return null;
  return stored.map((each, at) => {
    if (at < madeCount) return { ...each, compactionPart: at < noteCount ? "notes" : "request" };
    return { ...each, ...places[at - madeCount] };
  });
}

function isCompactionHead(value: unknown): value is CompactionHead {
  if (!isObject(value)) return false;
  const { noteCount, requestCount, copied } = value;
  return (
    isCount(noteCount) && isCount(requestCount) && Array.isArray(copied) && copied.every(isRun)
  );
}

function isRun(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { turnId, index, count } = value;
  return typeof turnId === "string" && isCount(index) && isCount(count) && count <= runMax;
}

/** No turn has that many messages. Stored data must not make us allocate without limit. */
const runMax = 1_000_000;
