// The root folder of a scope: its identity, whatever its name, and how to address its entries.
import { constants } from "node:fs";
import { lstat, open, realpath, type FileHandle } from "node:fs/promises";
import { createGuardedFiles } from "./guarded-files.ts";
import { hasCode, isOther, withToolErrors } from "./scoped-failure.ts";
import { hasDescriptorPaths, type ScopeRoot } from "./scoped-folder.ts";

export interface ScopeOptions {
  /** Set to false to address entries by path, as on systems without descriptor paths. */
  readonly byDescriptor?: boolean;
  /** Absolute paths of files that are neither read nor written, wherever a link to them is. Asked for every use. */
  readonly guardedFiles?: () => readonly string[];
}

/** The folder must exist. */
export function openRoot(given: string, options: ScopeOptions = {}): Promise<ScopeRoot> {
  return withToolErrors(given, async () => {
    const path = await realpath(given);
    const handle = await openIfPossible(path);
    try {
      const stats = (await handle?.stat({ bigint: true })) ?? (await lstat(path, { bigint: true }));
      if (!stats.isDirectory()) throw isOther(given, "file");
      const byDescriptor =
        options.byDescriptor !== false && handle !== null && (await hasDescriptorPaths(handle));
      const { dev, ino, birthtimeNs } = stats;
      const born = (await hasBirthTimes()) ? { birthtimeNs } : {};
      const { guardedFiles = () => [] } = options;
      const guarded = createGuardedFiles(guardedFiles);
      return { path, dev, ino, ...born, hasDescriptorPaths: byDescriptor, guarded };
    } finally {
      await handle?.close();
    }
  });
}

/** Some systems cannot open folders. A shortage of descriptors is different and must not weaken the guard. */
async function openIfPossible(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (error) {
    if (hasCode(error, "EISDIR", "ENOTDIR", "EPERM", "EACCES")) return null;
    throw error;
  }
}

/**
 * A system without birth times reports the last change instead. For our own, unchanged program the two differ
 * only if births are known.
 */
async function hasBirthTimes(): Promise<boolean> {
  const program = await lstat(process.execPath, { bigint: true }).catch(() => null);
  return program !== null && program.birthtimeNs !== program.ctimeNs;
}
