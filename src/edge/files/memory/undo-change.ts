// Chooses the version an undo restores, and restores it.
import { hashContent } from "../../../core/hash.ts";
import { countBytes } from "../../../core/layers/cut-middle.ts";
import type { MemoryFile } from "../../../core/memory/memory-file.ts";
import { findUndo, type JournalEntry } from "../../../core/memory/memory-journal.ts";
import { commitChange, type CommitContext } from "./commit-change.ts";

/**
 * `nothing`: no version of this file is stored. `edited`: the file was changed outside since, and the version
 * before that is unknown. `no such version`: of another file, or no longer stored. `same`: it equals the
 * current text.
 */
export type UndoRefusal = "nothing" | "edited" | "no such version" | "same";

export type UndoOutcome =
  | {
      readonly kind: "undone";
      /** The undone change. */
      readonly entry: JournalEntry;
      readonly path: string;
      readonly sizeBytes: number;
      /** Problems although the undo succeeded. */
      readonly notes: readonly string[];
    }
  | { readonly kind: "refused"; readonly refusal: UndoRefusal };

/** Runs under the lock and is journalled like any change, so that it can be undone too. */
export async function undoChange(
  context: CommitContext,
  file: MemoryFile,
  to: number | undefined,
): Promise<UndoOutcome> {
  let chosen: JournalEntry | null = null;
  const settled = await commitChange<UndoRefusal>(context, file, (before, entries) => {
    const own = entries.filter((entry) => entry.file === file);
    const choice = chooseVersion(own, file, before, to);
    if (typeof choice === "string") return { kind: "stop", value: choice };
    chosen = choice;
    const undoes = to === undefined ? choice.number : null;
    return { kind: "change", after: choice.before, operation: "undo", undoes };
  });
  if (settled.kind === "stopped" || chosen === null) {
    return { kind: "refused", refusal: settled.kind === "stopped" ? settled.value : "nothing" };
  }
  const path = `${settled.folder}/${file}`;
  const { after, notes } = settled;
  return { kind: "undone", entry: chosen, path, sizeBytes: countBytes(after), notes };
}

/** `to`: the number of a change; the text before it is restored. */
function chooseVersion(
  entries: readonly JournalEntry[],
  file: MemoryFile,
  current: string,
  to: number | undefined,
): JournalEntry | UndoRefusal {
  if (entries.length === 0) return "nothing";
  const entry =
    to === undefined
      ? findUndo(entries, file, hashContent(current))
      : entries.find(({ number }) => number === to);
  if (entry == null) return to === undefined ? "edited" : "no such version";
  return entry.before === current ? "same" : entry;
}

export function describeUndoRefusal(file: MemoryFile, refusal: UndoRefusal): string {
  switch (refusal) {
    case "nothing":
      return `no earlier version of ${file} is kept`;
    case "edited":
      return `no kept change led to what ${file} holds now: it was edited by hand, or all kept changes are taken back`;
    case "no such version":
      return `no change of that number is kept for ${file}`;
    case "same":
      return `${file} holds exactly that already`;
  }
}
