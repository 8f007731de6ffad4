// Opens folders from the root one by one, so that no symlink is followed, even if one appears meanwhile.
import { constants, type BigIntStats } from "node:fs";
import { lstat, mkdir, open, readlink, type FileHandle } from "node:fs/promises";
import { join, sep } from "node:path";
import type { GuardedFiles, Identity } from "./guarded-files.ts";
import { hasCode, isMissing, refusedChange, refusedSymlink } from "./scoped-failure.ts";

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

export interface ScopeRoot {
  /** Without symlinks. */
  readonly path: string;
  readonly dev: bigint;
  readonly ino: bigint;
  /** Distinguishes reused inode numbers. Absent if the system records no birth times. */
  readonly birthtimeNs?: bigint;
  /**
   * Whether entries can be addressed through their folder's descriptor. A name is then looked up in the very
   * folder that was checked. Otherwise the path is compared before and after, which leaves a short window for
   * swapped folders.
   */
  readonly hasDescriptorPaths: boolean;
  readonly guarded: GuardedFiles;
}

/** A folder held open while its entries are in use. */
export interface ScopedFolder {
  /** The system path of an entry of this folder, or of the folder itself. */
  at(name: string): string;
  readonly self: string;
  /** Throws if the folder is no longer where it was found inside the root. */
  check(): Promise<void>;
  /** Makes renamed and new entries durable. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface FolderToOpen {
  readonly names: readonly string[];
  /** Creates missing folders, for this user alone. */
  readonly create: boolean;
  /** As given, for messages. */
  readonly path: string;
}

/** Null if a folder on the way is missing, or a file stands in its place. */
export function openFolder(root: ScopeRoot, folder: FolderToOpen): Promise<ScopedFolder | null> {
  return root.hasDescriptorPaths ? openByDescriptor(root, folder) : openByPath(root, folder);
}

/** Takes a `FileHandle`; Node's types stay out of what users import. */
export async function hasDescriptorPaths(handle: {
  readonly fd: number;
  stat(options: { readonly bigint: true }): Promise<Identity>;
}): Promise<boolean> {
  try {
    const direct = await handle.stat({ bigint: true });
    // The dot must stay: without it, the path names the link of the descriptor itself.
    const byName = await lstat(`${descriptorPath(handle)}/.`, { bigint: true });
    return isSame(direct, byName);
  } catch (error) {
    // A temporary shortage says nothing about the system's abilities.
    if (hasCode(error, "EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "EIO")) throw error;
    return false;
  }
}

export function isSame(left: Identity, right: Identity): boolean {
  return left.dev === right.dev && left.ino === right.ino;
}

function isRoot(stats: BigIntStats, root: ScopeRoot): boolean {
  const isBornThen = root.birthtimeNs === undefined || root.birthtimeNs === stats.birthtimeNs;
  return isSame(stats, root) && isBornThen;
}

async function openByDescriptor(
  root: ScopeRoot,
  { names, create, path }: FolderToOpen,
): Promise<ScopedFolder | null> {
  let handle = await open(root.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    if (!isRoot(await handle.stat({ bigint: true }), root)) throw refusedChange(path);
    for (const name of names) {
      const next = await openChild(handle, name, create, path);
      await handle.close();
      if (next === null) return null;
      handle = next;
    }
    const folder = toFolder(root, handle, path);
    await folder.check();
    return folder;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openChild(
  parent: FileHandle,
  name: string,
  create: boolean,
  path: string,
): Promise<FileHandle | null> {
  const child = `${descriptorPath(parent)}/${name}`;
  const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
  try {
    return await open(child, flags);
  } catch (error) {
    if (isMissing(error) && create) {
      await makeFolder(child);
      await parent.sync();
      return open(child, flags);
    }
    return orNothing(error, child, path);
  }
}

/** Not recursive: if the folders above are gone, another process is at work. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, 0o700);
  } catch (error) {
    // Another process was faster. Opening checks what it made.
    if (!hasCode(error, "EEXIST")) throw error;
  }
}

/** The system reports both a file and a symlink as "not a folder" here. */
async function orNothing(error: unknown, place: string, path: string): Promise<null> {
  if (isMissing(error)) return null;
  if (!hasCode(error, "ENOTDIR", "ELOOP")) throw error;
  const there = await lstat(place).catch(() => null);
  if (there?.isSymbolicLink() === true) throw refusedSymlink(path);
  return null;
}

function toFolder(root: ScopeRoot, handle: FileHandle, path: string): ScopedFolder {
  const self = descriptorPath(handle);
  return {
    self,
    at: (name) => `${self}/${name}`,
    check: async () => {
      const now = await readlink(self);
      const inside = root.path.endsWith(sep) ? root.path : root.path + sep;
      if (now !== root.path && !now.startsWith(inside)) throw refusedChange(path);
    },
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
}

function descriptorPath(handle: { readonly fd: number }): string {
  return `/proc/self/fd/${handle.fd}`;
}

interface Step {
  readonly place: string;
  readonly stats: BigIntStats;
}

async function openByPath(
  root: ScopeRoot,
  { names, create, path }: FolderToOpen,
): Promise<ScopedFolder | null> {
  const start = await look(root.path);
  if (!isRoot(start.stats, root)) throw refusedChange(path);
  const steps: Step[] = [start];
  let place = root.path;
  for (const name of names) {
    place = join(place, name);
    const step = await lookOrMake(place, create);
    if (step === null || (!step.stats.isDirectory() && !step.stats.isSymbolicLink())) return null;
    if (step.stats.isSymbolicLink()) throw refusedSymlink(path);
    steps.push(step);
  }
  return {
    self: place,
    at: (name) => join(place, name),
    check: async () => {
      for (const step of steps) {
        const now = await look(step.place);
        if (!now.stats.isDirectory() || !isSame(now.stats, step.stats)) throw refusedChange(path);
      }
    },
    sync: () => syncByPath(place),
    close: () => Promise.resolve(),
  };
}

async function look(place: string): Promise<Step> {
  return { place, stats: await lstat(place, { bigint: true }) };
}

async function lookOrMake(place: string, create: boolean): Promise<Step | null> {
  try {
    return await look(place);
  } catch (error) {
    if (hasCode(error, "ENOTDIR")) return null;
    if (!isMissing(error)) throw error;
    if (!create) return null;
    await makeFolder(place);
    return look(place);
  }
}

/** Some systems cannot open folders. Renames are then only as durable as the system makes them. */
async function syncByPath(place: string): Promise<void> {
  const handle = await open(place, O_RDONLY).catch(() => null);
  try {
    await handle?.sync();
  } catch (error) {
    if (!hasCode(error, "EISDIR", "EPERM", "EINVAL")) throw error;
  } finally {
    await handle?.close();
  }
}
