// Applies an operation to the text of a memory file, or says why not.
import { hashContent, type ContentHash } from "../hash.ts";
import { countBytes } from "../layers/cut-middle.ts";
import { countOccurrences } from "./count-occurrences.ts";
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
