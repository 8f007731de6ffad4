// One change of a memory file: decided on what is there under the lock, journalled, then put in place at once.
import { lstatSync, readFileSync } from "node:fs";
import { bytesOf, type MemoryFile } from "../../../core/memory/memory-file.ts";
import { hashContent } from "../../../core/hash.ts";
import type { JournalEntry, JournalLimits } from "../../../core/memory/memory-journal.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import { hasCode } from "../scoped-failure.ts";
import type { ScopeRoot, ScopedFolder } from "../scope-root.ts";
import { holdLock, type HeldLock } from "./folder-lock.ts";
import { sweepLeftovers, type LockOptions } from "./lock-files.ts";
import {
  appendEntry,
  dropEntry,
  dropOldEntries,
  hideFromGit,
  journalFolder,
  nextNumber,
  readJournal,
  type Journal,
} from "./journal-files.ts";
import { findMemoryPlace, readMemoryText, withFolder, type MemoryFolder } from "./memory-place.ts";

export interface CommitContext {
  readonly root: ScopeRoot;
  readonly lock: LockOptions;
  readonly limits: JournalLimits;
  readonly now: () => number;
}

/** What to make of a text and the versions before it; a `stop` leaves everything as it is. */
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
    };

/** Decides again whenever what was decided on is not what is there any more. */
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
  // Looked at without the lock first: what is refused anyway leaves no trace, not even a folder.
  const preview = await withFolder(root, [name], false, async (folder) => {
    const text = (await readMemoryText(root, folder, `${name}/${file}`, file)) ?? "";
    return decide(text, (await peekJournal(root, name)).entries);
  });
  if (preview.kind === "stop") return { kind: "stopped", value: preview.value };
  return withFolder(root, [name], true, (folder) =>
    withFolder(root, [name, journalFolder], true, async (journal) => {
      const lock = journal === null ? null : await holdLock(journal, context.lock);
      if (folder === null || journal === null || lock === null) return "again";
      try {
        await hideFromGit(journal);
        return await changeUnderLock({ ...context, name, folder, journal, lock }, file, decide);
      } finally {
        await lock.release();
      }
    }),
  );
}

export function peekJournal(root: ScopeRoot, name: MemoryFolder): Promise<Journal> {
  return withFolder(root, [name, journalFolder], false, readJournal);
}

interface LockedContext extends Omit<CommitContext, "lock"> {
  readonly name: MemoryFolder;
  readonly folder: ScopedFolder;
  readonly journal: ScopedFolder;
  readonly lock: HeldLock;
}

async function changeUnderLock<T>(
  context: LockedContext,
  file: MemoryFile,
  decide: Decide<T>,
): Promise<Settled<T> | "again"> {
  const { root, name, folder, journal, lock, now, limits } = context;
  // Somebody moved memory to the other folder while we waited.
  if ((await findMemoryPlace(root)).folder !== name) return "again";
  await sweepLeftovers(journal, now());
  const there = await readMemoryText(root, folder, `${name}/${file}`, file);
  const before = there ?? "";
  const versions = await readJournal(journal);
  const decision = decide(before, versions.entries);
  if (decision.kind === "stop") return { kind: "stopped", value: decision.value };
  const { after, operation, undoes } = decision;
  const entry: JournalEntry = {
    number: nextNumber(versions),
    atMs: now(),
    file,
    operation,
    undoes,
    before,
    afterHash: hashContent(after),
    afterSizeBytes: bytesOf(after),
  };
  if (!(await lock.stage(file, after, modeOf(folder.at(file))))) return "again";
  if (!(await appendEntry(journal, lock, entry))) return "again";
  await folder.check();
  // Editors take no locks: what one saved until now is decided on again.
  const isAsDecided = contentOf(folder.at(file)) === there;
  if (!isAsDecided || !lock.commit(file, folder.at(file))) {
    await dropEntry(journal, entry);
    return "again";
  }
  await folder.sync();
  await dropOldEntries(journal, [...versions.entries, entry], limits);
  return { kind: "changed", before, after, folder: name };
}

/** A file keeps its mode; a new one is for its user alone. */
function modeOf(path: string): number {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats === undefined ? 0o600 : stats.mode & 0o777;
}

function contentOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
}
