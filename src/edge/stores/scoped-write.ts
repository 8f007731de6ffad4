// A file that appears whole or not at all.
import { randomBytes } from "node:crypto";
import { constants, type BigIntStats } from "node:fs";
import { link, lstat, open, rename, unlink, type FileHandle } from "node:fs/promises";
import { setImmediate as nextTurn } from "node:timers/promises";
import { hasCode, refusedChange } from "./scoped-failure.ts";
import type { ScopedFolder } from "./scope-root.ts";
import { isSame } from "./scoped-folder.ts";

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

/** What the new file takes over from the one it replaces. */
export interface ReplacedFile {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** A file that a crash left behind while another was written. Nobody reads it; it may be removed. */
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

/** False when something of that name is there: a link, unlike a rename, replaces nothing. */
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
      // By path the folder may have been swapped just then: nothing is written before it is known where the file is.
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
    // What went wrong matters more than what could not be tidied up.
    if (made !== null) await removeOurs(folder, temporary, made).catch(() => {});
    throw error;
  }
  await folder.sync();
}

async function isThere(folder: ScopedFolder, name: string, made: BigIntStats): Promise<boolean> {
  const there = await lstat(folder.at(name), { bigint: true }).catch(() => null);
  return there !== null && isSame(there, made);
}

/** The mode always; the owner where we may give files away, which few users may. */
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

/** Only the very file that we made, wherever the way leads meanwhile; where it leads elsewhere now, a little later. */
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
