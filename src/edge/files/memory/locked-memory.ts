// A memory folder and its journal under their lock.
import type { ScopeRoot } from "../guard/scoped-folder.ts";
import { holdLock, type HeldLock } from "./folder-lock.ts";
import { withFolder, type HeldFolder } from "./held-folder.ts";
import { hideFromGit, journalFolder } from "./journal-files.ts";
import type { LockOptions } from "./lock-files.ts";
import type { MemoryFolder } from "./memory-place.ts";

export interface LockedMemory {
  readonly name: MemoryFolder;
  readonly folder: HeldFolder;
  readonly journal: HeldFolder;
  readonly lock: HeldLock;
}

/** Null: the folder was removed meanwhile. `isReleased` is false if others must wait until the lock expires. */
export function withLockedMemory<T>(
  root: ScopeRoot,
  name: MemoryFolder,
  options: LockOptions,
  work: (locked: LockedMemory) => Promise<T>,
): Promise<{ readonly value: T; readonly isReleased: boolean } | null> {
  return withFolder(root, [name], true, (folder) =>
    withFolder(root, [name, journalFolder], true, async (journal) => {
      const lock = journal === null ? null : await holdLock(journal, options);
      if (folder === null || journal === null || lock === null) return null;
      let isReleased = true;
      const release = (): Promise<void> => lock.release().catch(() => void (isReleased = false));
      try {
        await hideFromGit(journal);
        const value = await work({ name, folder, journal, lock });
        await release();
        return { value, isReleased };
      } catch (error) {
        // The earlier error matters more than an unreleased lock.
        await release();
        throw error;
      }
    }),
  );
}
