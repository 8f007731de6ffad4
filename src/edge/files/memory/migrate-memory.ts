// Moves memory from `.metis` to `.strata`, with its journal, while others may be writing.
// Everything is in both folders before anything leaves the old one. A marker says which of them counts
// meanwhile.
import { readdir, rm, rmdir } from "node:fs/promises";
import { memoryFiles, type MemoryFile } from "../../../core/memory/memory-file.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import type { ScopeRoot } from "../guard/scoped-folder.ts";
import { defaultLockOptions } from "./folder-lock.ts";
import { withFolder } from "./held-folder.ts";
import type { LockOptions } from "./lock-files.ts";
import { journalFolder } from "./journal-files.ts";
import { openMemoryRoot, type MemoryFolder } from "./memory-place.ts";
import { withLockedMemory, type LockedMemory } from "./locked-memory.ts";
import { finishMove, moveAll } from "./move-memory.ts";

export interface Migration {
  readonly moved: readonly MemoryFile[];
  /** What else is in `.metis` and stays there. */
  readonly left: readonly string[];
}

/** Safe to repeat: the next run finishes or restarts what a crash interrupted. */
export async function migrateMemory(
  workspacePath: string,
  options: Partial<LockOptions> = {},
): Promise<Migration> {
  const root = await openMemoryRoot(workspacePath);
  const lock = { ...defaultLockOptions, ...options };
  const names = await namesIn(root, ".metis");
  if (!names.some((name) => name === journalFolder || isMemoryFile(name))) {
    return { moved: [], left: names };
  }
  // No process writes in either folder meanwhile. Waiters then look again where memory is.
  const moved = await withLock(root, ".metis", lock, (from) =>
    withLock(root, ".strata", lock, async (to) => {
      const before = await finishMove(from, to);
      const now = await moveAll(from, to);
      return memoryFiles.filter((file) => before.includes(file) || now.includes(file));
    }),
  );
  await removeEmpty(root);
  return { moved, left: await namesIn(root, ".metis") };
}

function namesIn(root: ScopeRoot, name: MemoryFolder): Promise<readonly string[]> {
  return withFolder(root, [name], false, async (folder) =>
    folder === null ? [] : (await readdir(folder.self)).toSorted(),
  );
}

function isMemoryFile(name: string): boolean {
  return memoryFiles.some((file) => file === name);
}

async function withLock<T>(
  root: ScopeRoot,
  name: MemoryFolder,
  options: LockOptions,
  work: (locked: LockedMemory) => Promise<T>,
): Promise<T> {
  const done = await withLockedMemory(root, name, options, work);
  if (done !== null) return done.value;
  throw new ToolError("execution_error", `${name} was removed meanwhile; try again`);
}

/** The folder stays if a process waits for the lock or something else is in it. */
async function removeEmpty(root: ScopeRoot): Promise<void> {
  await withFolder(root, [".metis"], false, async (folder) => {
    if (folder === null) return;
    const journal = await readdir(folder.at(journalFolder)).catch(() => ["?"]);
    if (journal.every((name) => name === ".gitignore")) {
      await rm(folder.at(`${journalFolder}/.gitignore`), { force: true });
      await rmdir(folder.at(journalFolder)).catch(() => {});
    }
  });
  await withFolder(root, [], false, async (workspace) => {
    await rmdir(workspace?.at(".metis") ?? "").catch(() => {});
  });
}
