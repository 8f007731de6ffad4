// One change of a memory file: decided on the current text under the lock, journalled, then put in place atomically.
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { countBytes } from "../../../core/layers/cut-middle.ts";
import type { MemoryFile } from "../../../core/memory/memory-file.ts";
import { hashContent } from "../../../core/hash.ts";
import {
  toWholeMs,
  type JournalEntry,
  type JournalLimits,
} from "../../../core/memory/memory-journal.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import { hasCode, withToolErrors } from "../guard/scoped-failure.ts";
import type { ScopeRoot } from "../guard/scoped-folder.ts";
import type { HeldLock } from "./folder-lock.ts";
import { withFolder } from "./held-folder.ts";
import { sweepLeftovers, type LockOptions } from "./lock-files.ts";
import * as journals from "./journal-files.ts";
import { withLockedMemory, type LockedMemory } from "./locked-memory.ts";
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
  const done = await withLockedMemory(root, name, context.lock, (locked) =>
    changeUnderLock(context, locked, file, decide),
  );
  if (done === null) return "again";
  const { value: settled, isReleased } = done;
  if (isReleased || settled === "again" || settled.kind === "stopped") return settled;
  return { ...settled, notes: [...settled.notes, lockKept] };
}

const lockKept =
  "The lock on memory could not be given back; the next write may have to wait for some seconds.";

export function peekJournal(root: ScopeRoot, name: MemoryFolder): Promise<journals.Journal> {
  return withFolder(root, [name, journals.journalFolder], false, journals.readJournal);
}

async function changeUnderLock<T>(
  { root, now, limits }: CommitContext,
  locked: LockedMemory,
  file: MemoryFile,
  decide: Decide<T>,
): Promise<Settled<T> | "again"> {
  const { name, folder, journal, lock } = locked;
  const path = `${name}/${file}`;
  // Another process moved memory to the other folder while we waited.
  if ((await findMemoryPlace(root)).folder !== name) return "again";
  await sweepLeftovers(journal, now());
  const there = await readMemoryText(folder, path, file);
  const before = there ?? "";
  const versions = await journals.readJournal(journal);
  const decision = decide(before, versions.entries);
  if (decision.kind === "stop") return { kind: "stopped", value: decision.value };
  const { after, operation, undoes } = decision;
  const entry: JournalEntry = {
    number: journals.nextNumber(versions),
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
  const isCommitted = await commitStaged(locked, { path, there, after }, entry);
  if (!isCommitted) return "again";
  // The change has happened; no later failure may deny it.
  const notes = await folder.sync().then(
    () => [],
    () => [notOnDisk(path)],
  );
  await journals.dropOldEntries(journal, [...versions.entries, entry], limits);
  return { kind: "changed", before, after, folder: name, isNew: there === null, notes };
}

function notOnDisk(path: string): string {
  return `${path} is changed, but it is not known whether that is on the disk: a power cut could still undo it.`;
}

/** Journals, then renames. If the change fails, its entry is removed, because it would push out a real one. */
async function commitStaged(
  { folder, journal, lock }: LockedMemory,
  change: { readonly path: string; readonly there: string | null; readonly after: string },
  entry: JournalEntry,
): Promise<boolean> {
  const { path, there, after } = change;
  const { file } = entry;
  let isCommitted = false;
  try {
    if (!(await journals.appendEntry(journal, lock, entry))) return false;
    isCommitted = await withToolErrors(path, async () => {
      await folder.check();
      // Editors take no locks. If one saved meanwhile, the change is decided again.
      if (contentOf(folder.at(file)) !== there) return false;
      return putInPlace(lock, file, folder.at(file), after);
    });
    return isCommitted;
  } finally {
    if (!isCommitted) await journals.dropEntry(journal, entry);
  }
}

/** Some file systems report failure after the rename. The content in place counts. */
function putInPlace(lock: HeldLock, file: MemoryFile, target: string, after: string): boolean {
  try {
    return lock.commit(file, target);
  } catch (error) {
    if (!lock.isStaged(file) && contentOf(target) === after) return true;
    throw error;
  }
}

/** A file keeps its mode; a new one is private to its user. */
function modeOf(path: string): number {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats === undefined ? 0o600 : stats.mode & 0o777;
}

/** Synchronous: nothing is awaited before the rename. An entry that is no longer a file counts as changed. */
function contentOf(path: string): string | null {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    const descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      return fstatSync(descriptor).isFile() ? readFileSync(descriptor, "utf8") : null;
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
}
