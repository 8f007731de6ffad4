// Reads the bytes of a file up to a limit, from the checked file and no other.
import { constants, type BigIntStats } from "node:fs";
import { lstat, open, type FileHandle } from "node:fs/promises";
import * as failure from "./scoped-failure.ts";
import { isSame, type ScopedFolder, type ScopeRoot } from "./scoped-folder.ts";

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** A file may be replaced between check and opening, but rarely this often in a row. */
const ATTEMPTS_MAX = 20;

export interface FileToRead {
  /** As given, for messages. */
  readonly path: string;
  readonly bytesMax: number;
}

export function readBounded(
  root: ScopeRoot,
  folder: ScopedFolder,
  name: string,
  { path, bytesMax }: FileToRead,
): Promise<{ readonly bytes: Uint8Array; readonly size: number } | null> {
  return withFile(root, folder, { name, path }, (handle, size) => readUpTo(handle, size, bytesMax));
}

/** False if there is no such file. True after the end, or as soon as `take` returns false. */
export async function readInPieces(
  root: ScopeRoot,
  folder: ScopedFolder,
  name: string,
  { path, bytesMax, take }: FileToRead & { readonly take: TakePiece },
): Promise<boolean> {
  const done = await withFile(root, folder, { name, path }, async (handle) => {
    for (let place = 0; ;) {
      const { bytes } = await readUpTo(handle, bytesMax, bytesMax, place);
      place += bytes.length;
      if (bytes.length === 0 || !(await take(bytes))) return true;
    }
  });
  return done ?? false;
}

/** Receives the next bytes. Returns false to stop. */
export type TakePiece = (piece: Uint8Array) => Promise<boolean>;

/** Null if there is no such file. */
async function withFile<T>(
  root: ScopeRoot,
  folder: ScopedFolder,
  { name, path }: { readonly name: string; readonly path: string },
  work: (handle: FileHandle, size: number) => Promise<T>,
): Promise<T | null> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const before = await lstat(folder.at(name), { bigint: true }).catch(failure.unlessMissing);
    if (before === null) {
      await folder.check();
      return null;
    }
    requireFile(before, path);
    // Non-blocking: a pipe in the file's place would wait for a writer.
    const flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
    const handle = await open(folder.at(name), flags).catch(failure.unlessMissing);
    if (handle === null) continue;
    try {
      const opened = await handle.stat({ bigint: true });
      requireFile(opened, path);
      await folder.check();
      // A descriptor path addresses the checked folder itself, so the opened file is inside it.
      if (!root.hasDescriptorPaths && !(await isStillThere(folder, name, before, opened))) continue;
      await root.guarded.refuseFile(opened, path);
      return await work(handle, Number(opened.size));
    } finally {
      await handle.close();
    }
  }
  throw failure.refusedChange(path);
}

/** Checks the entry and the path again. To go unnoticed, folders must be swapped four times in a row. */
async function isStillThere(
  folder: ScopedFolder,
  name: string,
  before: BigIntStats,
  opened: BigIntStats,
): Promise<boolean> {
  const after = await lstat(folder.at(name), { bigint: true }).catch(failure.unlessMissing);
  await folder.check();
  return after !== null && isSame(before, opened) && isSame(after, opened);
}

function requireFile(stats: BigIntStats, path: string): void {
  if (stats.isSymbolicLink()) throw failure.refusedSymlink(path);
  if (stats.isDirectory()) throw failure.isOther(path, "folder");
  if (!stats.isFile()) throw failure.refusedKind(path);
}

/** A growing file is read to its current end, up to the limit. */
async function readUpTo(
  handle: FileHandle,
  expected: number,
  bytesMax: number,
  start = 0,
): Promise<{ readonly bytes: Uint8Array; readonly size: number }> {
  let buffer = Buffer.alloc(Math.min(expected + 1, bytesMax));
  let length = 0;
  while (length < bytesMax) {
    if (length === buffer.length) {
      const larger = Buffer.alloc(Math.min(buffer.length * 2 + 4096, bytesMax));
      buffer.copy(larger);
      buffer = larger;
    }
    const room = buffer.length - length;
    const { bytesRead } = await handle.read(buffer, length, room, start + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return { bytes: buffer.subarray(0, length), size: Math.max(expected, length) };
}
