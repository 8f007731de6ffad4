// Applies an operation to the text of a memory file, or says why not.
import { hashContent, type ContentHash } from "../hash.ts";
import { countBytes } from "../layers/cut-middle.ts";
import { memoryCaps, type MemoryFile } from "./memory-file.ts";
import type { MemoryRefusal } from "./memory-refusal.ts";

export type MemoryOperation =
  | { readonly kind: "add"; readonly entry: string }
  | { readonly kind: "replace"; readonly old: string; readonly new: string }
  | { readonly kind: "consolidate"; readonly content: string };

export interface ChangeContext {
  readonly file: MemoryFile;
  /** The hash of the text the caller has seen. Undefined if none; an empty file need not be seen. */
  readonly seenHash: ContentHash | undefined;
  /** Whether more than half may be dropped while the file is below its soft cap. */
  readonly isDropConfirmed: boolean;
}

export type MemoryChange =
  | { readonly kind: "changed"; readonly text: string }
  | { readonly kind: "same" }
  | { readonly kind: "refused"; readonly refusal: MemoryRefusal };

/**
 * Applies an operation to the current text. Adding works on any text, and replacing needs a text that
 * occurs once; only a consolidation must know the whole text it replaces.
 */
export function changeMemory(
  text: string,
  operation: MemoryOperation,
  context: ChangeContext,
): MemoryChange {
  const change = apply(text, operation, context);
  if (change.kind !== "changed") return change;
  if (change.text === text) return { kind: "same" };
  const attemptedBytes = countBytes(change.text);
  const { hardBytes } = memoryCaps[context.file];
  if (attemptedBytes <= hardBytes) return change;
  return refuse({ kind: "over-hard-cap", attemptedBytes, hardBytes });
}

function apply(text: string, operation: MemoryOperation, context: ChangeContext): MemoryChange {
  switch (operation.kind) {
    case "add":
      return addEntry(text, operation.entry.toWellFormed().trim());
    case "replace":
      return replaceOnce(text, operation.old, operation.new.toWellFormed());
    case "consolidate":
      return consolidate(text, operation.content.toWellFormed(), context);
  }
}

function addEntry(text: string, entry: string): MemoryChange {
  if (entry === "") return refuse({ kind: "entry-blank" });
  const line = lineOfEntry(text, entry);
  if (line !== null) return refuse({ kind: "entry-known", line });
  const start = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return { kind: "changed", text: `${start}${entry}\n` };
}

/** The line where the same words already stand as whole lines. Ignores bullets and white space. */
function lineOfEntry(text: string, entry: string): number | null {
  const lines = text.split("\n").map(toWords);
  const wanted = entry.split("\n").map(toWords);
  const { firstIndex } = countOccurrences(lines, wanted);
  return firstIndex === -1 ? null : firstIndex + 1;
}

function toWords(line: string): string {
  return line
    .trim()
    .replace(/^[-*+]\s+/, "")
    .replace(/\s+/g, " ");
}

function replaceOnce(text: string, old: string, replacement: string): MemoryChange {
  if (old === "") return refuse({ kind: "old-blank" });
  if (text === "") return refuse({ kind: "file-empty" });
  // Overlapping matches count separately: the intended one is unclear.
  const { count, firstIndex } = countOccurrences(text, old);
  if (count !== 1) return refuse({ kind: "old-count", count });
  const changed = text.slice(0, firstIndex) + replacement + text.slice(firstIndex + old.length);
  return { kind: "changed", text: changed };
}

function consolidate(text: string, content: string, context: ChangeContext): MemoryChange {
  if (content === text) return { kind: "same" };
  const currentHash = hashContent(text);
  if (text !== "" && context.seenHash !== currentHash) {
    return refuse({ kind: "changed-meanwhile", currentHash, currentText: text });
  }
  const [beforeBytes, afterBytes] = [countBytes(text), countBytes(content)];
  const isBelow = beforeBytes <= memoryCaps[context.file].softBytes;
  if (isBelow && afterBytes * 2 < beforeBytes && !context.isDropConfirmed) {
    return refuse({ kind: "drop-unconfirmed", beforeBytes, afterBytes });
  }
  return { kind: "changed", text: content };
}

function refuse(refusal: MemoryRefusal): MemoryChange {
  return { kind: "refused", refusal };
}

interface Occurrences {
  /** Matches may overlap: "aa" occurs in "aaa" twice. */
  readonly count: number;
  /** The first match, or -1. */
  readonly firstIndex: number;
}

/** Works on characters of a text or lines of a list. An empty part has no matches. */
export function countOccurrences<T>(whole: ArrayLike<T>, part: ArrayLike<T>): Occurrences {
  let [count, firstIndex] = [0, -1];
  if (part.length === 0 || part.length > whole.length) return { count, firstIndex };
  const fallbacks = toFallbacks(part);
  let matched = 0;
  for (let index = 0; index < whole.length; index += 1) {
    while (matched > 0 && whole[index] !== part[matched]) matched = fallbacks[matched - 1] ?? 0;
    if (whole[index] === part[matched]) matched += 1;
    if (matched < part.length) continue;
    if (count === 0) firstIndex = index - part.length + 1;
    count += 1;
    matched = fallbacks[matched - 1] ?? 0;
  }
  return { count, firstIndex };
}

/** For each prefix of the part: the length of its longest suffix that is also a prefix (Knuth, Morris, Pratt). */
function toFallbacks<T>(part: ArrayLike<T>): Uint32Array {
  const fallbacks = new Uint32Array(part.length);
  let matched = 0;
  for (let index = 1; index < part.length; index += 1) {
    while (matched > 0 && part[index] !== part[matched]) matched = fallbacks[matched - 1] ?? 0;
    if (part[index] === part[matched]) matched += 1;
    fallbacks[index] = matched;
  }
  return fallbacks;
}
