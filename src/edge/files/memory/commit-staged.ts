// Journals a prepared change, then puts it in place.
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import type { MemoryFile } from "../../../core/memory/memory-file.ts";
import type { JournalEntry } from "../../../core/memory/memory-journal.ts";
import { hasCode, withToolErrors } from "../guard/scoped-failure.ts";
import type { HeldLock } from "./folder-lock.ts";
import type { HeldFolder } from "./held-folder.ts";
import { appendEntry, dropEntry } from "./journal-files.ts";

export interface LockedFolders {
  readonly folder: HeldFolder;
  readonly journal: HeldFolder;
  readonly lock: HeldLock;
}

export interface StagedChange {
  readonly file: MemoryFile;
  readonly path: string;
  readonly there: string | null;
  readonly after: string;
  readonly entry: JournalEntry;
}

/** Journals, then renames at once. If the change fails, its entry is removed, because it would push out a real one. */
export async function commitStaged(
  { folder, journal, lock }: LockedFolders,
  { file, path, there, after, entry }: StagedChange,
): Promise<boolean> {
  let isCommitted = false;
  try {
    if (!(await appendEntry(journal, lock, entry))) return false;
    isCommitted = await withToolErrors(path, async () => {
      await folder.check();
      // Editors take no locks. If one saved meanwhile, the change is decided again.
      if (contentOf(folder.at(file)) !== there) return false;
      return putInPlace(lock, file, folder.at(file), after);
    });
    return isCommitted;
  } finally {
    if (!isCommitted) await dropEntry(journal, entry);
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
export function modeOf(path: string): number {
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
