// One change of a memory file: decided on the current text under the lock, journalled, then put in place atomically.
import { countBytes } from "../../../core/layers/cut-middle.ts";
import type { MemoryFile } from "../../../core/memory/memory-file.ts";
import { hashContent } from "../../../core/hash.ts";
import {
  toWholeMs,
  type JournalEntry,
  type JournalLimits,
} from "../../../core/memory/memory-journal.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import { withToolErrors } from "../guard/scoped-failure.ts";
import type { ScopeRoot } from "../guard/scope-root.ts";
import { holdLock } from "./folder-lock.ts";
import { withFolder } from "./held-folder.ts";
import { sweepLeftovers, type LockOptions } from "./lock-files.ts";
import {
  dropOldEntries,
  hideFromGit,
  journalFolder,
  nextNumber,
  readJournal,
  type Journal,
} from "./journal-files.ts";
import { commitStaged, modeOf, type LockedFolders } from "./commit-staged.ts";
import { findMemoryPlace, readMemoryText, type MemoryFolder } from "./memory-place.ts";

export interface CommitContext {
  readonly root: ScopeRoot;
  readonly lock: LockOptions;
  readonly limits: JournalLimits;
  readonly now: () => number;
}

/** Decides what to do with a text, given its earlier versions. `stop` changes nothing. */
export type Decide<T> = (before: string, entries: readonly JournalEntry[]) => Decision<T>;

export type Decision<T> =
  | { readonly kind: "stop"; readonly value: T }
  | {
      readonly kind: "change";
      readonly after: string;
      readonly operation: JournalEntry["operation"];
      readonly undoes: number | null;
    };

export type Settled<T> =
  | { readonly kind: "stopped"; readonly value: T }
  | {
      readonly kind: "changed";
      readonly before: string;
      readonly after: string;
      readonly folder: MemoryFolder;
      /** The file did not exist before. */
      readonly isNew: boolean;
      /** Problems although the change was made, as whole sentences. */
      readonly notes: readonly string[];
    };

/** Decides again whenever the text changed since the decision. */
export async function commitChange<T>(
  context: CommitContext,
  file: MemoryFile,
  decide: Decide<T>,
): Promise<Settled<T>> {
  const deadlineMs = performance.now() + context.lock.waitMsMax;
  do {
    const settled = await tryChange(context, file, decide);
    if (settled !== "again") return settled;
  } while (performance.now() < deadlineMs);
  throw new ToolError(
    "execution_error",
    `${file} is changed by others all the time; nothing was changed by this. Try again`,
    { isUserVisible: true },
  );
}

async function tryChange<T>(
  context: CommitContext,
  file: MemoryFile,
  decide: Decide<T>,
): Promise<Settled<T> | "again"> {
  const { root } = context;
  const { folder: name } = await findMemoryPlace(root);
  // Checks without the lock first: a refusal leaves no trace, not even a folder.
  const preview = await withFolder(root, [name], false, async (folder) => {
    const text = (await readMemoryText(folder, `${name}/${file}`, file)) ?? "";
    return decide(text, (await peekJournal(root, name)).entries);
  });
  if (preview.kind === "stop") return { kind: "stopped", value: preview.value };
  context.lock.signal?.throwIfAborted();
  return withFolder(root, [name], true, (folder) =>
    withFolder(root, [name, journalFolder], true, async (journal) => {
      const lock = journal === null ? null : await holdLock(journal, context.lock);
      if (folder === null || journal === null || lock === null) return "again";
      const locked = { ...context, name, folder, journal, lock };
      const isKept = async (): Promise<boolean> =>
        lock.release().then(
          () => false,
          () => true,
        );
      try {
        await hideFromGit(journal);
        const settled = await changeUnderLock(locked, file, decide);
        if (!(await isKept()) || settled === "again" || settled.kind === "stopped") return settled;
        return { ...settled, notes: [...settled.notes, lockKept] };
      } catch (error) {
        // The earlier error matters more than an unreleased lock, which others take when it expires.
        await isKept();
        throw error;
      }
    }),
  );
}

const lockKept =
  "The lock on memory could not be given back; the next write may have to wait for some seconds.";

export function peekJournal(root: ScopeRoot, name: MemoryFolder): Promise<Journal> {
  return withFolder(root, [name, journalFolder], false, readJournal);
}

interface LockedContext extends Omit<CommitContext, "lock">, LockedFolders {
  readonly name: MemoryFolder;
}

async function changeUnderLock<T>(
  context: LockedContext,
  file: MemoryFile,
  decide: Decide<T>,
): Promise<Settled<T> | "again"> {
  const { root, name, folder, journal, lock, now, limits } = context;
  const path = `${name}/${file}`;
  // Another process moved memory to the other folder while we waited.
  if ((await findMemoryPlace(root)).folder !== name) return "again";
  await sweepLeftovers(journal, now());
  const there = await readMemoryText(folder, path, file);
  const before = there ?? "";
  const versions = await readJournal(journal);
  const decision = decide(before, versions.entries);
  if (decision.kind === "stop") return { kind: "stopped", value: decision.value };
  const { after, operation, undoes } = decision;
  const entry: JournalEntry = {
    number: nextNumber(versions),
    atMs: toWholeMs(now()),
    file,
    operation,
    undoes,
    before,
    afterHash: hashContent(after),
    afterSizeBytes: countBytes(after),
  };
  const isStaged = await withToolErrors(path, () =>
    lock.stage(file, after, modeOf(folder.at(file))),
  );
  if (!isStaged) return "again";
  const isCommitted = await commitStaged(context, { file, path, there, after, entry });
  if (!isCommitted) return "again";
  // The change has happened; no later failure may deny it.
  const notes = await folder.sync().then(
    () => [],
    () => [notOnDisk(path)],
  );
  await dropOldEntries(journal, [...versions.entries, entry], limits);
  return { kind: "changed", before, after, folder: name, isNew: there === null, notes };
}

function notOnDisk(path: string): string {
  return `${path} is changed, but it is not known whether that is on the disk: a power cut could still undo it.`;
}
