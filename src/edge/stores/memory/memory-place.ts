// Where memory lives in a workspace: one folder, for reading and for writing (S-01).
import { constants } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { memoryFiles, type MemoryFile } from "../../../core/memory/memory-file.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import { isMissing, isOther, refusedWay, tellingOf } from "../scoped-failure.ts";
import type { ScopeRoot, ScopedFolder } from "../scope-root.ts";
import { hasDescriptorPaths, openFolder } from "../scoped-folder.ts";
import { readBounded } from "../scoped-read.ts";

export type MemoryFolder = ".strata" | ".metis";

export interface MemoryPlace {
  readonly folder: MemoryFolder;
  /** Memory files in the other folder, which nobody reads. */
  readonly ignored: readonly string[];
}

/** A workspace that is there; `~` is the home folder. */
export async function openMemoryRoot(workspacePath: string): Promise<ScopeRoot> {
  const expanded = /^~(?=$|[\\/])/.test(workspacePath)
    ? join(homedir(), workspacePath.slice(1))
    : workspacePath;
  return tellingOf(workspacePath, async () => {
    const path = await realpath(resolve(expanded));
    const stats = await lstat(path, { bigint: true });
    if (!stats.isDirectory()) throw isOther(workspacePath, "file");
    const handle = await open(path, constants.O_RDONLY).catch(() => null);
    try {
      const byDescriptor = handle !== null && (await hasDescriptorPaths(handle));
      return { path, dev: stats.dev, ino: stats.ino, hasDescriptorPaths: byDescriptor };
    } finally {
      await handle?.close();
    }
  });
}

/**
 * `.strata`, unless only `.metis` is there. Where both are, the one with memory in it: other things live in these
 * folders, too, and making one of them must not hide what is remembered.
 */
export async function findMemoryPlace(root: ScopeRoot): Promise<MemoryPlace> {
  const own = await filesIn(root, ".strata");
  if (own !== null && own.length > 0) {
    const other = await filesIn(root, ".metis").catch(() => null);
    return { folder: ".strata", ignored: (other ?? []).map((file) => `.metis/${file}`) };
  }
  const seed = await filesIn(root, ".metis");
  const isSeeds = seed !== null && (seed.length > 0 || own === null);
  return { folder: isSeeds ? ".metis" : ".strata", ignored: [] };
}

/** Null where there is no such folder. */
async function filesIn(root: ScopeRoot, name: MemoryFolder): Promise<readonly MemoryFile[] | null> {
  return withFolder(root, [name], false, async (folder) => {
    if (folder === null) return null;
    const found: MemoryFile[] = [];
    for (const file of memoryFiles) {
      if ((await lstat(folder.at(file)).catch(unlessMissing)) !== null) found.push(file);
    }
    return found;
  });
}

/** Held open for the time of the work; null where it is missing. */
export function withFolder<T>(
  root: ScopeRoot,
  names: readonly string[],
  create: boolean,
  work: (folder: ScopedFolder | null) => Promise<T>,
): Promise<T> {
  const path = names.join("/");
  return tellingOf(path, async () => {
    const folder = await openFolder(root, { names, create, path });
    try {
      if (folder === null && create) throw refusedWay(path);
      return await work(folder);
    } finally {
      await folder?.close();
    }
  });
}

/** Far more than memory may hold: a file of somebody else's making can still be read, consolidated and taken back. */
export const memoryBytesMax = 1_048_576;

/** Null where the file is missing. What is not text is refused: writing it again would change it. */
export async function readMemoryText(
  root: ScopeRoot,
  folder: ScopedFolder | null,
  path: string,
  file: MemoryFile,
): Promise<string | null> {
  if (folder === null) return null;
  const content = await readBounded(root, folder, file, { path, bytesMax: memoryBytesMax });
  if (content === null) return null;
  if (content.size > memoryBytesMax) {
    throw unusable(`${path} has ${content.size} bytes, far more than memory may hold`);
  }
  try {
    return utf8.decode(content.bytes);
  } catch (cause) {
    throw unusable(`${path} is not UTF-8 text`, cause);
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function unusable(message: string, cause?: unknown): ToolError {
  return new ToolError("execution_error", `${message}; correct it by hand`, {
    cause,
    isUserVisible: true,
  });
}

function unlessMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}
