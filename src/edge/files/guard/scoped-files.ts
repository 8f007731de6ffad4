// The only way to files whose paths others choose: inside a root, never through a symlink, written whole or not at all.
import type { Dirent, Stats } from "node:fs";
import { lstat, readdir, rmdir, stat, unlink } from "node:fs/promises";
import { resolve } from "node:path";
import { ToolError } from "../../../core/tools/tool.ts";
import { openRoot, type ScopeOptions } from "./open-root.ts";
import * as failure from "./scoped-failure.ts";
import { openFolder, type ScopedFolder, type ScopeRoot } from "./scoped-folder.ts";
import { namesInside } from "./scoped-path.ts";
import { readBounded, readInPieces, type TakePiece } from "./scoped-read.ts";
import { linkWhole, replaceWhole, type ReplacedFile } from "./scoped-write.ts";

/**
 * A path is relative to the root, or absolute and inside it. A path outside, a symlink on the way or at the
 * end, a special file or a guarded one is refused with a `ToolError` (permission_denied) that names the path as given.
 */
export interface ScopedFiles {
  /** Without symlinks. */
  readonly root: string;
  /**
   * How entries are found. Against constantly swapped folders, "by descriptor" always holds, "by path" nearly
   * always.
   */
  readonly lookup: "by descriptor" | "by path";
  /** The path relative to the root, with slashes; "." for the root. Looks only at the text. */
  nameOf(path: string): string;
  /** Null if there is no such file. The bytes end at the limit; `size` says whether there are more. */
  readFile(path: string, options: { readonly bytesMax: number }): Promise<ScopedContent | null>;
  /** Reads one file in pieces until `take` resolves with false. False if there is no such file. */
  readPieces(path: string, options: PieceOptions): Promise<boolean>;
  /**
   * Writes a temporary file beside it, then fsync, rename, fsync of the folder. Creates folders with 0700 as
   * needed. A replaced file keeps its mode and, if we may change owners, its owner; a new one gets `mode`, 0600
   * by default.
   */
  writeFile(path: string, content: string | Uint8Array, options?: WriteOptions): Promise<void>;
  /** Like writeFile, but does nothing and returns false if the name exists. Of many callers, one gets true. */
  createFile(path: string, content: string | Uint8Array, options?: WriteOptions): Promise<boolean>;
  /** Sorted by code units. Lists symlinks without following them. A missing folder is a `not_found`. */
  list(path: string): Promise<readonly ScopedEntry[]>;
  /** Null if there is no such file or folder. */
  stat(path: string): Promise<ScopedStats | null>;
  /** Removes a file or an empty folder. A missing one is no error. */
  remove(path: string): Promise<void>;
}

export interface ScopedEntry {
  readonly name: string;
  readonly kind: "file" | "folder" | "symlink" | "other";
  readonly size: number;
}

export interface ScopedContent {
  readonly bytes: Uint8Array;
  readonly size: number;
}

export interface PieceOptions {
  readonly bytesMax: number;
  readonly take: TakePiece;
}

export interface ScopedStats {
  readonly kind: "file" | "folder";
  readonly size: number;
  readonly mtimeMs: number;
}

export interface WriteOptions {
  readonly mode?: number;
  /** Called when everything is on disk under a temporary name. If it throws, nothing changes. */
  readonly beforeRename?: () => Promise<void> | void;
}

/** The folder must exist. The scope stays bound to it: another folder in its place is refused. */
export async function openScope(given: string, options: ScopeOptions = {}): Promise<ScopedFiles> {
  const root = await openRoot(given, options);
  return toFiles({ root, prefixes: [root.path, resolve(given)] });
}

interface Scope {
  readonly root: ScopeRoot;
  /** The prefixes an absolute path inside the root may have. */
  readonly prefixes: readonly string[];
}

function toFiles(scope: Scope): ScopedFiles {
  const { root } = scope;
  return {
    root: root.path,
    lookup: root.hasDescriptorPaths ? "by descriptor" : "by path",
    nameOf: (path) => namesInside(scope.prefixes, path).join("/") || ".",
    readFile: (path, { bytesMax }) =>
      inFolderOf(scope, path, async (folder, name) => {
        if (name === undefined) throw failure.isOther(path, "folder");
        return folder === null ? null : readBounded(root, folder, name, { path, bytesMax });
      }),
    readPieces: (path, options) =>
      inFolderOf(scope, path, async (folder, name) => {
        if (name === undefined) throw failure.isOther(path, "folder");
        return folder !== null && readInPieces(root, folder, name, { path, ...options });
      }),
    writeFile: (path, content, options = {}) =>
      inPlaceOf(scope, path, ({ folder, name, replaced }) =>
        replaceWhole(folder, name, { path, content, options, replaced }),
      ),
    createFile: (path, content, options = {}) =>
      inPlaceOf(scope, path, async ({ folder, name, replaced }) =>
        replaced === null ? linkWhole(folder, name, { path, content, options, replaced }) : false,
      ),
    list: (path) =>
      inFolder(scope, path, { isParent: false, create: false }, async (folder) => {
        if (folder === null) throw failure.notFound(path, "folder");
        return listEntries(folder);
      }),
    stat: (path) =>
      inFolderOf(scope, path, async (folder, name) => {
        const there = folder === null ? null : await lookAt(scope, folder, name ?? ".", path);
        if (there === null) return null;
        return { kind: there.kind, size: there.size, mtimeMs: there.mtimeMs };
      }),
    remove: (path) =>
      inFolderOf(scope, path, async (folder, name) => {
        if (name === undefined) throw new ToolError("permission_denied", "the root itself stays");
        const there = folder === null ? null : await lookAt(scope, folder, name, path);
        if (folder === null || there === null) return;
        await (there.kind === "folder" ? rmdir : unlink)(folder.at(name)).catch(
          failure.unlessMissing,
        );
        await folder.sync();
      }),
  };
}

interface Place {
  readonly folder: ScopedFolder;
  readonly name: string;
  /** The file to replace. */
  readonly replaced: ReplacedFile | null;
}

function inPlaceOf<T>(scope: Scope, path: string, work: (place: Place) => Promise<T>): Promise<T> {
  return inFolder(scope, path, { isParent: true, create: true }, async (folder, name) => {
    if (name === undefined) throw failure.isOther(path, "folder");
    if (folder === null) throw failure.refusedWay(path);
    const there = await lookAt(scope, folder, name, path);
    if (there?.kind === "folder") throw failure.isOther(path, "folder");
    const self = await stat(folder.self, { bigint: true });
    await scope.root.guarded.refuseNew(self, name, path);
    return work({ folder, name, replaced: there });
  });
}

type FolderWork<T> = (folder: ScopedFolder | null, name: string | undefined) => Promise<T>;

function inFolderOf<T>(scope: Scope, path: string, work: FolderWork<T>): Promise<T> {
  return inFolder(scope, path, { isParent: true, create: false }, work);
}

/** Opens a folder, or the folder of an entry, during the work. */
function inFolder<T>(
  { root, prefixes }: Scope,
  path: string,
  { isParent, create }: { readonly isParent: boolean; readonly create: boolean },
  work: FolderWork<T>,
): Promise<T> {
  return failure.withToolErrors(path, async () => {
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

interface Found extends ScopedStats, ReplacedFile {}

/** The entry under a name. Refuses symlinks, special files and guarded files. */
async function lookAt(
  { root }: Scope,
  folder: ScopedFolder,
  name: string,
  path: string,
): Promise<Found | null> {
  const stats = await lstat(folder.at(name), { bigint: true }).catch(failure.unlessMissing);
  await folder.check();
  if (stats === null) return null;
  if (stats.isSymbolicLink()) throw failure.refusedSymlink(path);
  if (!stats.isFile() && !stats.isDirectory()) throw failure.refusedKind(path);
  await root.guarded.refuseFile(stats, path);
  const [size, uid, gid] = [Number(stats.size), Number(stats.uid), Number(stats.gid)];
  const mode = Number(stats.mode) & 0o777;
  const mtimeMs = Number(stats.mtimeNs) / 1e6;
  return { kind: stats.isFile() ? "file" : "folder", size, mtimeMs, mode, uid, gid };
}

/** How many entries are examined together. */
const AT_ONCE = 32;

async function listEntries(folder: ScopedFolder): Promise<readonly ScopedEntry[]> {
  const found = await readdir(folder.self, { withFileTypes: true });
  await folder.check();
  found.sort((left, right) => (left.name < right.name ? -1 : 1));
  const entries: ScopedEntry[] = [];
  for (let start = 0; start < found.length; start += AT_ONCE) {
    const some = found.slice(start, start + AT_ONCE).map((each) => toEntry(folder, each));
    entries.push(...(await Promise.all(some)));
  }
  await folder.check();
  return entries;
}

/** An entry that vanished meanwhile, or whose name is not valid text, is listed as found. */
async function toEntry(folder: ScopedFolder, found: Dirent): Promise<ScopedEntry> {
  const stats = await lstat(folder.at(found.name)).catch(() => null);
  return { name: found.name, kind: kindOf(stats ?? found), size: stats?.size ?? 0 };
}

function kindOf(entry: Dirent | Stats): ScopedEntry["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "symlink" : "other";
}
