// Writes a file whole or not at all.
import { randomBytes } from "node:crypto";
import { constants, type BigIntStats } from "node:fs";
import { link, lstat, open, rename, unlink, type FileHandle } from "node:fs/promises";
import { setImmediate as nextTurn } from "node:timers/promises";
import { hasCode, refusedChange } from "./scoped-failure.ts";
import { isSame, type ScopedFolder } from "./scoped-folder.ts";

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;

export interface FileToWrite {
  /** As given, for messages. */
  readonly path: string;
  readonly content: string | Uint8Array;
  readonly options: {
    readonly mode?: number;
    readonly beforeRename?: () => Promise<void> | void;
  };
  readonly replaced: ReplacedFile | null;
}

/** What the new file keeps from the replaced one. */
export interface ReplacedFile {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** A file that a crash left behind during a write. It is never read and may be removed. */
export function isLeftover(name: string): boolean {
  return /^\.strata-[0-9a-f]{16}\.tmp$/.test(name);
}

export async function replaceWhole(
  folder: ScopedFolder,
  name: string,
  file: FileToWrite,
): Promise<void> {
  await withTemporary(folder, file, async (temporary) => {
    await rename(folder.at(temporary), folder.at(name));
  });
}

/** False if the name exists: unlike a rename, a link replaces nothing. */
export async function linkWhole(
  folder: ScopedFolder,
  name: string,
  file: FileToWrite,
): Promise<boolean> {
  let isCreated = true;
  await withTemporary(folder, file, async (temporary) => {
    try {
      await link(folder.at(temporary), folder.at(name));
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
      isCreated = false;
    }
    await unlink(folder.at(temporary));
  });
  return isCreated;
}

async function withTemporary(
  folder: ScopedFolder,
  { path, content, options, replaced }: FileToWrite,
  settle: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = `.strata-${randomBytes(8).toString("hex")}.tmp`;
  const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
  const handle = await open(folder.at(temporary), flags, options.mode ?? 0o600);
  let made: BigIntStats | null = null;
  try {
    try {
      made = await handle.stat({ bigint: true });
      // By path, the folder may just have been swapped. Write nothing before the file's place is known.
      if (!(await isThere(folder, temporary, made))) throw refusedChange(path);
      await folder.check();
      if (replaced !== null) await takeOver(handle, made, replaced);
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await options.beforeRename?.();
    await folder.check();
    await settle(temporary);
  } catch (error) {
    // The original error matters more than a failed cleanup.
    if (made !== null) await removeOurs(folder, temporary, made).catch(() => {});
    throw error;
  }
  await folder.sync();
}

async function isThere(folder: ScopedFolder, name: string, made: BigIntStats): Promise<boolean> {
  const there = await lstat(folder.at(name), { bigint: true }).catch(() => null);
  return there !== null && isSame(there, made);
}

/** Always keeps the mode; keeps the owner if we may change it, which few users may. */
async function takeOver(
  handle: FileHandle,
  made: BigIntStats,
  { mode, uid, gid }: ReplacedFile,
): Promise<void> {
  const isTheirs = Number(made.uid) === uid && Number(made.gid) === gid;
  if (!isTheirs) await handle.chown(uid, gid).catch(() => {});
  await handle.chmod(mode);
}

const tidyAttemptsMax = 200;

/** Removes only the very file we made. If the path leads elsewhere now, tries again later. */
async function removeOurs(
  folder: ScopedFolder,
  temporary: string,
  made: BigIntStats,
): Promise<void> {
  for (let attempt = 0; attempt < tidyAttemptsMax; attempt += 1) {
    if (await isThere(folder, temporary, made)) return unlink(folder.at(temporary));
    await nextTurn();
  }
}
