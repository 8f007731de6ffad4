// The last versions of the memory files, so that a change can be undone.
import { isCount, parseFields } from "../message/fields.ts";
import { hashContent, type ContentHash } from "../hash.ts";
import type { MemoryOperation } from "./change-memory.ts";
import { countBytes } from "../layers/cut-middle.ts";
import { memoryFiles, type MemoryFile } from "./memory-file.ts";

/** One change, written before it is made. A crash in between leaves an entry for a change that never happened. */
export interface JournalEntry {
  /** Counted from 1 and never reused. */
  readonly number: number;
  readonly atMs: number;
  readonly file: MemoryFile;
  readonly operation: MemoryOperation["kind"] | "undo";
  /** For an undo: the number of the change it reverted. */
  readonly undoes: number | null;
  /** The text before the change. */
  readonly before: string;
  readonly afterHash: ContentHash;
  readonly afterSizeBytes: number;
}

export interface JournalLimits {
  /** Per file. */
  readonly versionsMax: number;
  /** For all versions together. The latest of each file always stays. */
  readonly bytesMax: number;
}

export const defaultJournalLimits: JournalLimits = { versionsMax: 20, bytesMax: 262_144 };

/**
 * The latest change that led to the current text and was not undone. Null if there is none: the file
 * was changed outside, or the journal does not reach back far enough.
 */
export function findUndo(
  entries: readonly JournalEntry[],
  file: MemoryFile,
  currentHash: ContentHash,
): JournalEntry | null {
  const own = entries.filter((entry) => entry.file === file);
  let before = Infinity;
  for (;;) {
    const latest = own.findLast(
      ({ number, afterHash }) => number < before && afterHash === currentHash,
    );
    if (latest === undefined) return null;
    if (latest.undoes === null) return latest;
    // An undo led here, so the current text is the one before the undone change.
    before = Math.min(latest.number, latest.undoes);
  }
}

/** The oldest entries beyond the limits. */
export function entriesToDrop(
  entries: readonly JournalEntry[],
  { versionsMax, bytesMax }: JournalLimits,
): readonly JournalEntry[] {
  const kept = new Map<MemoryFile, number>();
  let bytes = 0;
  return entries
    .toSorted((left, right) => right.number - left.number)
    .filter(({ file, before }) => {
      const count = kept.get(file) ?? 0;
      const size = countBytes(before);
      const hasRoom = count < versionsMax && (count === 0 || bytes + size <= bytesMax);
      if (!hasRoom) return true;
      kept.set(file, count + 1);
      bytes += size;
      return false;
    });
}

export function encodeJournalEntry(entry: JournalEntry): string {
  return `${JSON.stringify(entry)}\n`;
}

/** Null if the text is not an entry. The reader skips it. */
export function decodeJournalEntry(text: string): JournalEntry | null {
  const value = parseFields(text);
  if (value === undefined) return null;
  const { number, atMs, operation, undoes, before, afterHash, afterSizeBytes } = value;
  const file = memoryFiles.find((each) => each === value["file"]);
  const done = operations.find((each) => each === operation);
  if (file === undefined || done === undefined || typeof before !== "string") return null;
  if (!isCount(number) || typeof atMs !== "number" || !isCount(afterSizeBytes)) return null;
  if (typeof afterHash !== "string" || !/^[0-9a-f]{64}$/.test(afterHash)) return null;
  return {
    number,
    atMs: toWholeMs(atMs),
    file,
    operation: done,
    undoes: isCount(undoes) ? undoes : null,
    before,
    afterHash,
    afterSizeBytes,
  };
}

/** A wrong clock must not lose an entry. */
export function toWholeMs(given: number): number {
  return Number.isFinite(given) ? Math.max(0, Math.trunc(given)) : 0;
}

export function beforeHashOf({ before }: JournalEntry): ContentHash {
  return hashContent(before);
}

const operations: readonly JournalEntry["operation"][] = ["add", "replace", "consolidate", "undo"];
