// A file that appears whole or not at all.
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { link, open, rename, unlink } from "node:fs/promises";
import { hasCode } from "./scoped-failure.ts";
import type { ScopedFolder } from "./scope-root.ts";

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;

export interface FileToWrite {
  readonly content: string | Uint8Array;
  readonly options: {
    readonly mode?: number;
    readonly beforeRename?: () => Promise<void> | void;
  };
  /** Of the file that is replaced. */
  readonly mode: number | undefined;
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
  { content, options, mode }: FileToWrite,
  settle: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = `.strata-${randomBytes(8).toString("hex")}.tmp`;
  const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
  const handle = await open(folder.at(temporary), flags, options.mode ?? 0o600);
  try {
    try {
      if (mode !== undefined) await handle.chmod(mode);
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
    await unlink(folder.at(temporary)).catch(() => {});
    throw error;
  }
  await folder.sync();
}
