// The one door to files that somebody else may name: inside a root, never through a symlink, whole or not at all.
import { constants } from "node:fs";
import { lstat, open, realpath, rename, rmdir, unlink } from "node:fs/promises";
import { resolve } from "node:path";
import { ToolError } from "../../core/tools/tool.ts";
import {
  isMissing,
  isOther,
  notFound,
  refusedKind,
  refusedSymlink,
  refusedWay,
  tellingOf,
} from "./scoped-failure.ts";
import type { ScopeRoot, ScopedEntry, ScopedFolder } from "./scope-root.ts";
import { hasDescriptorPaths, openFolder } from "./scoped-folder.ts";
import { listEntries } from "./scoped-list.ts";
import { namesInside, spell } from "./scoped-path.ts";
import { readBounded } from "./scoped-read.ts";
import { linkWhole, replaceWhole } from "./scoped-write.ts";

export type { ScopedEntry } from "./scope-root.ts";

/**
 * A path is relative to the root, or absolute and inside it. A path outside, a symlink on the way or at the end, or
 * a special file is refused with a `ToolError` (permission_denied) that names the path as given.
 */
export interface ScopedFiles {
  /** Without symlinks. */
  readonly root: string;
  /** A path as the root has it, with slashes; "." for the root. Only the text is looked at. */
  nameOf(path: string): string;
  /** Null: no such file. The bytes end at the limit; `size` tells whether there are more. */
  readFile(path: string, options: { readonly bytesMax: number }): Promise<ScopedContent | null>;
  /**
   * Temporary file beside it, fsync, rename, fsync of the folder; folders are made with 0700 as needed.
   * A file that is replaced keeps its mode; a new one gets `mode`, 0600 by default.
   */
  writeFile(path: string, content: string | Uint8Array, options?: WriteOptions): Promise<void>;
  /** As writeFile, but false and nothing done when something of that name is there. One of many callers gets true. */
  createFile(path: string, content: string | Uint8Array, options?: WriteOptions): Promise<boolean>;
  /** Sorted by code units. Symlinks are told of, not followed. A missing folder is a `not_found`. */
  list(path: string): Promise<readonly ScopedEntry[]>;
  /** Null: no such file or folder. */
  stat(path: string): Promise<ScopedStats | null>;
  /** A file or an empty folder. What is missing is removed already. */
  remove(path: string): Promise<void>;
  /** A file or a folder; refused when something of the new name is there. */
  move(from: string, to: string): Promise<void>;
}

export interface ScopedContent {
  readonly bytes: Uint8Array;
  readonly size: number;
}

export interface ScopedStats {
  readonly kind: "file" | "folder";
  readonly size: number;
  readonly mtimeMs: number;
}

export interface WriteOptions {
  readonly mode?: number;
  /** Called when everything is on the disk under another name; what it throws leaves all as it was. */
  readonly beforeRename?: () => Promise<void> | void;
}

export interface ScopeOptions {
  /** Set to false to name entries by their paths, as on systems without descriptor paths. */
  readonly byDescriptor?: boolean;
}

/** The folder must be there. It is the same folder for the life of the scope: another in its place is refused. */
export async function openScope(root: string, options: ScopeOptions = {}): Promise<ScopedFiles> {
  return tellingOf(root, async () => {
    const path = await realpath(root);
    const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY).catch(() => null);
    try {
      const stats = (await handle?.stat({ bigint: true })) ?? (await lstat(path, { bigint: true }));
      if (!stats.isDirectory()) throw isOther(root, "file");
      const byDescriptor =
        options.byDescriptor !== false && handle !== null && (await hasDescriptorPaths(handle));
      const { dev, ino } = stats;
      return toFiles({
        root: { path, dev, ino, hasDescriptorPaths: byDescriptor },
        prefixes: [path, resolve(root)],
      });
    } finally {
      await handle?.close();
    }
  });
}

interface Scope {
  readonly root: ScopeRoot;
  /** What an absolute path inside the root may begin with. */
  readonly prefixes: readonly string[];
}

function toFiles(scope: Scope): ScopedFiles {
  const { root } = scope;
  return {
    root: root.path,
    nameOf: (path) => namesInside(scope.prefixes, path).join("/") || ".",
    readFile: (path, { bytesMax }) =>
      inFolderOf(scope, path, async (folder, name) => {
        if (name === undefined) throw isOther(path, "folder");
        return folder === null ? null : readBounded(root, folder, name, { path, bytesMax });
      }),
    writeFile: (path, content, options = {}) =>
      inPlaceOf(scope, path, ({ folder, name, mode }) =>
        replaceWhole(folder, name, { content, options, mode }),
      ),
    createFile: (path, content, options = {}) =>
      inPlaceOf(scope, path, async ({ folder, name, mode }) =>
        mode === undefined ? linkWhole(folder, name, { content, options, mode }) : false,
      ),
    list: (path) =>
      inFolder(scope, path, { isParent: false, create: false }, async (folder) => {
        if (folder === null) throw notFound(path, "folder");
        return listEntries(folder);
      }),
    stat: (path) =>
      inFolderOf(scope, path, async (folder, name) => {
        const there = folder === null ? null : await lookAt(folder, name ?? ".", path);
        if (there === null) return null;
        return { kind: there.kind, size: there.size, mtimeMs: there.mtimeMs };
      }),
    remove: (path) =>
      inFolderOf(scope, path, async (folder, name) => {
        if (name === undefined) throw new ToolError("permission_denied", "the root itself stays");
        const there = folder === null ? null : await lookAt(folder, name, path);
        if (folder === null || there === null) return;
        await (there.kind === "folder" ? rmdir : unlink)(folder.at(name)).catch(unlessMissing);
        await folder.sync();
      }),
    move: (from, to) => inPlaceOf(scope, to, (target) => moveTo(scope, from, to, target)),
  };
}

async function moveTo(scope: Scope, from: string, to: string, target: Place): Promise<void> {
  await inFolderOf(scope, from, async (folder, name) => {
    if (name === undefined) throw new ToolError("permission_denied", "the root itself stays");
    const there = folder === null ? null : await lookAt(folder, name, from);
    if (folder === null || there === null) throw notFound(from, "file");
    if (target.mode !== undefined) {
      throw new ToolError("validation_error", `${spell(to)} is there already`);
    }
    await rename(folder.at(name), target.folder.at(target.name));
    await Promise.all([folder.sync(), target.folder.sync()]);
  });
}

/** Where a file can be written. */
interface Place {
  readonly folder: ScopedFolder;
  readonly name: string;
  /** Of the file that is there. */
  readonly mode: number | undefined;
}

function inPlaceOf<T>(scope: Scope, path: string, work: (place: Place) => Promise<T>): Promise<T> {
  return inFolder(scope, path, { isParent: true, create: true }, async (folder, name) => {
    if (name === undefined) throw isOther(path, "folder");
    if (folder === null) throw refusedWay(path);
    const there = await lookAt(folder, name, path);
    if (there?.kind === "folder") throw isOther(path, "folder");
    return work({ folder, name, mode: there?.mode });
  });
}

type FolderWork<T> = (folder: ScopedFolder | null, name: string | undefined) => Promise<T>;

function inFolderOf<T>(scope: Scope, path: string, work: FolderWork<T>): Promise<T> {
  return inFolder(scope, path, { isParent: true, create: false }, work);
}

/** Opens a folder, or the one an entry is in, for the time of the work. */
function inFolder<T>(
  { root, prefixes }: Scope,
  path: string,
  { isParent, create }: { readonly isParent: boolean; readonly create: boolean },
  work: FolderWork<T>,
): Promise<T> {
  return tellingOf(path, async () => {
    const all = namesInside(prefixes, path);
    const names = isParent ? all.slice(0, -1) : all;
    const folder = await openFolder(root, { names, create, path });
    try {
      return await work(folder, all.at(-1));
    } finally {
      await folder?.close();
    }
  });
}

interface Found extends ScopedStats {
  readonly mode: number;
}

/** What is there under a name. Symlinks and special files are refused. */
async function lookAt(folder: ScopedFolder, name: string, path: string): Promise<Found | null> {
  const stats = await lstat(folder.at(name)).catch(unlessMissing);
  await folder.check();
  if (stats === null) return null;
  if (stats.isSymbolicLink()) throw refusedSymlink(path);
  if (!stats.isFile() && !stats.isDirectory()) throw refusedKind(path);
  const { size, mtimeMs, mode } = stats;
  return { kind: stats.isFile() ? "file" : "folder", size, mtimeMs, mode: mode & 0o777 };
}

function unlessMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}
