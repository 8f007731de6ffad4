// Moves memory from `.metis` to `.strata`, with its journal, while others may be writing.
import { link, lstat, readdir, readFile, rename, rm, rmdir, unlink } from "node:fs/promises";
import { memoryFiles, type MemoryFile } from "../../../core/memory/memory-file.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import { hasCode, isMissing, refusedSymlink } from "../scoped-failure.ts";
import type { ScopeRoot, ScopedFolder } from "../scope-root.ts";
import { defaultLockOptions, holdLock } from "./folder-lock.ts";
import type { LockOptions } from "./lock-files.ts";
import { hideFromGit, journalFolder, readJournal } from "./journal-files.ts";
import { openMemoryRoot, withFolder, type MemoryFolder } from "./memory-place.ts";

export interface Migration {
  readonly moved: readonly MemoryFile[];
  /** What else is in `.metis`, and stays there. */
  readonly left: readonly string[];
}

/** Safe to repeat: what a crash left behind is moved the next time. */
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
  // Nobody writes in either folder meanwhile; whoever waits looks again where memory is.
  const moved = await withLock(root, ".metis", lock, (from) =>
    withLock(root, ".strata", lock, (to) => moveAll(from, to)),
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

interface LockedFolder {
  readonly folder: ScopedFolder;
  readonly journal: ScopedFolder;
}

function withLock<T>(
  root: ScopeRoot,
  name: MemoryFolder,
  options: LockOptions,
  work: (locked: LockedFolder) => Promise<T>,
): Promise<T> {
  return withFolder(root, [name], true, (folder) =>
    withFolder(root, [name, journalFolder], true, async (journal) => {
      const lock = journal === null ? null : await holdLock(journal, options);
      if (folder === null || journal === null || lock === null) {
        throw new ToolError("execution_error", `${name} was removed meanwhile; try again`);
      }
      try {
        await hideFromGit(journal);
        return await work({ folder, journal });
      } finally {
        await lock.release();
      }
    }),
  );
}

async function moveAll(from: LockedFolder, to: LockedFolder): Promise<MemoryFile[]> {
  const files: MemoryFile[] = [];
  for (const file of memoryFiles) {
    const there = await readWhole(from.folder, file, ".metis");
    if (there === null) continue;
    files.push(file);
    const other = await readWhole(to.folder, file, ".strata");
    if (other !== null && !other.equals(there)) throw inBoth(file);
  }
  // The journal first: a version that is kept too early harms nobody.
  const kept = await readJournal(to.journal);
  if (kept.entries.length === 0 && kept.damaged.length === 0) {
    for (const name of await readdir(from.journal.self)) {
      if (name.endsWith(".json")) await rename(from.journal.at(name), to.journal.at(name));
    }
  }
  for (const file of files) await moveFile(from.folder, to.folder, file);
  await Promise.all([to.journal.sync(), to.folder.sync(), from.folder.sync()]);
  return files;
}

/** Never in the place of another: a link, unlike a rename, replaces nothing. */
async function moveFile(from: ScopedFolder, to: ScopedFolder, file: MemoryFile): Promise<void> {
  try {
    await link(from.at(file), to.at(file));
  } catch (error) {
    // The same text, as was seen before; or a file system that has no links.
    if (hasCode(error, "EPERM", "ENOTSUP", "ENOSYS")) return rename(from.at(file), to.at(file));
    if (!hasCode(error, "EEXIST")) throw error;
  }
  await to.sync();
  await unlink(from.at(file));
}

async function readWhole(
  folder: ScopedFolder,
  file: MemoryFile,
  name: MemoryFolder,
): Promise<Buffer | null> {
  try {
    if (!(await lstat(folder.at(file))).isFile()) throw refusedSymlink(`${name}/${file}`);
    return await readFile(folder.at(file));
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Where somebody waits for the lock, or keeps something else, the folder stays. */
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

function inBoth(file: MemoryFile): ToolError {
  return new ToolError(
    "validation_error",
    `${file} is in .metis and in .strata, and they differ; nothing was moved. Make one of the two by hand, and remove the one in .metis`,
    { isUserVisible: true },
  );
}
