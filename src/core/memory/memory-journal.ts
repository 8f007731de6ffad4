// The last versions of the two files, so that a change can be taken back.
import { isCount, isObject } from "../message/fields.ts";
import { hashContent, type ContentHash } from "../hash.ts";
import type { MemoryOperation } from "./change-memory.ts";
import { countBytes } from "../layers/cut-middle.ts";
import { memoryFiles, type MemoryFile } from "./memory-file.ts";

/** One change, written down before it is made: a crash in between leaves one that never was. */
export interface JournalEntry {
  /** Counted from 1, never given twice. */
  readonly number: number;
  readonly atMs: number;
  readonly file: MemoryFile;
  readonly operation: MemoryOperation["kind"] | "undo";
  /** Of an undo: the number of the change it took back. */
  readonly undoes: number | null;
  /** The text that was replaced. */
  readonly before: string;
  readonly afterHash: ContentHash;
  readonly afterSizeBytes: number;
}

export interface JournalLimits {
  /** Of each file. */
  readonly versionsMax: number;
  /** Of all versions together; the latest of each file stays however large it is. */
  readonly bytesMax: number;
}

export const defaultJournalLimits: JournalLimits = { versionsMax: 20, bytesMax: 262_144 };

/**
 * The latest change that led to what is there now and was not taken back; null where there is none, because the
 * file was changed by somebody else, or the journal does not reach back so far.
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
    // An undo led here: what is there is what was there before the change it took back.
    before = Math.min(latest.number, latest.undoes);
  }
}

/** The oldest ones, of which there is no room any more. */
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

/** Null where the text is not an entry: whoever reads the journal goes on without it. */
export function decodeJournalEntry(text: string): JournalEntry | null {
  const value = parse(text);
  if (value === null) return null;
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

/** Clocks may be wrong, and an entry is not lost for it. */
export function toWholeMs(given: number): number {
  return Number.isFinite(given) ? Math.max(0, Math.trunc(given)) : 0;
}

export function beforeHashOf({ before }: JournalEntry): ContentHash {
  return hashContent(before);
}

const operations: readonly JournalEntry["operation"][] = ["add", "replace", "consolidate", "undo"];

function parse(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
