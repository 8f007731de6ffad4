// One operation on a memory file, and its outcome.
import { lstat } from "node:fs/promises";
import { hashContent, type ContentHash } from "../../../core/hash.ts";
import {
  changeMemory,
  type ChangeContext,
  type MemoryOperation,
} from "../../../core/memory/change-memory.ts";
import type { MemoryFile } from "../../../core/memory/memory-file.ts";
import type { MemoryRefusal } from "../../../core/memory/memory-refusal.ts";
import { toMemoryWrite, type MemoryWrite } from "../../../core/memory/memory-write.ts";
import { unlessMissing } from "../guard/scoped-failure.ts";
import type { ScopeRoot } from "../guard/scoped-folder.ts";
import { commitChange, type CommitContext, type Decide } from "./commit-change.ts";
import { withFolder } from "./held-folder.ts";
import { findMemoryPlace, type MemoryFolder } from "./memory-place.ts";

export type MemoryOutcome =
  | {
      readonly kind: "written" | "unchanged";
      readonly write: MemoryWrite;
      /** Relative to the workspace. */
      readonly path: string;
      /** Problems although it was written, or what the write hides, as whole sentences. */
      readonly notes: readonly string[];
    }
  | { readonly kind: "refused"; readonly file: MemoryFile; readonly refusal: MemoryRefusal };

export async function writeOnce(
  context: CommitContext,
  operation: MemoryOperation,
  known: ChangeContext,
  markSeen: (hash: ContentHash) => void,
): Promise<MemoryOutcome> {
  const { file, seenHash } = known;
  const decide: Decide<{ readonly before: string; readonly refusal: MemoryRefusal | null }> = (
    before,
  ) => {
    const change = changeMemory(before, operation, known);
    switch (change.kind) {
      case "changed":
        return { kind: "change", after: change.text, operation: operation.kind, undoes: null };
      case "same":
        return { kind: "stop", value: { before, refusal: null } };
      case "refused":
        return { kind: "stop", value: { before, refusal: change.refusal } };
    }
  };
  const settled = await commitChange(context, file, decide);
  const toPath = (folder: MemoryFolder): string => `${folder}/${file}`;
  if (settled.kind === "stopped") {
    const { before, refusal } = settled.value;
    if (refusal !== null) return { kind: "refused", file, refusal };
    const write = toMemoryWrite(file, operation, { before, after: before, isMerged: false });
    const { folder } = await findMemoryPlace(context.root);
    return { kind: "unchanged", write, path: toPath(folder), notes: [] };
  }
  const { before, after } = settled;
  const isKnown = before === "" || seenHash === hashContent(before);
  const isMerged = seenHash !== undefined && seenHash !== hashContent(before);
  const write = toMemoryWrite(file, operation, { before, after, isMerged });
  // A session that knew the text before also knows the text after its own write.
  if (isKnown) markSeen(write.afterHash);
  const hidden = settled.isNew ? await notesOnHidden(context.root, file) : [];
  return {
    kind: "written",
    write,
    path: toPath(settled.folder),
    notes: [...settled.notes, ...hidden],
  };
}

/** Sessions see a root file of the same name only as long as there is no other. */
async function notesOnHidden(root: ScopeRoot, file: MemoryFile): Promise<readonly string[]> {
  const there = await withFolder(root, [], false, async (workspace) =>
    workspace === null ? null : lstat(workspace.at(file)).catch(unlessMissing),
  ).catch(() => null);
  if (there === null) return [];
  return [
    `The ${file} at the root of the workspace stays as it is, but is not shown to later sessions any more: add what still matters of it here.`,
  ];
}
