// The lock as it lies in its folder: `lock` with the holder's folder in it, `take-…` of those who want it, `gone-…` of those who had it, `foreign-…` of what others put there.
import { randomBytes } from "node:crypto";
import { lstat, mkdir, readdir, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { ToolError } from "../../../core/tools/tool.ts";
import { hasCode, unlessMissing } from "../scoped-failure.ts";
import type { ScopedFolder } from "../scope-root.ts";
import type { HeldFolder } from "./held-folder.ts";
import { identifySelf, type ProcessIdentity } from "../process-identity.ts";
import { decodeHolder, encodeHolder, type LockHolder } from "./lock-holder.ts";

export interface LockOptions {
  /** After it, others take the lock away. */
  readonly lifetimeMs: number;
  /** How long to wait for others. */
  readonly waitMsMax: number;
  readonly self?: ProcessIdentity;
  readonly signal?: AbortSignal;
}

/** `left`: nobody has it, and a folder is in the way that is empty or holds what is not ours. */
export type SeenLock =
  | { readonly kind: "free" }
  | { readonly kind: "left"; readonly isEmpty: boolean }
  | HeldBy;

export interface HeldBy {
  readonly kind: "held";
  readonly token: string;
  /** Null for a holder that is not known. */
  readonly holder: LockHolder | null;
}

export async function lookAtLock(folder: HeldFolder): Promise<SeenLock> {
  const stats = await lstat(folder.at("lock")).catch(unlessMissing);
  if (stats === null) return { kind: "free" };
  if (!stats.isDirectory()) {
    throw new ToolError(
      "execution_error",
      "memory-journal/lock is not a folder of ours; remove it",
      { isUserVisible: true },
    );
  }
  const names = (await readdir(folder.at("lock")).catch(unlessMissing)) ?? [];
  const token = names.find((name) => /^[0-9a-f]{16}$/.test(name));
  if (token === undefined) return { kind: "left", isEmpty: names.length === 0 };
  return { kind: "held", token, holder: await readHolder(folder, token) };
}

/** Null for what says nothing that can be trusted; a link or a pipe in its place is no holder. */
async function readHolder(folder: HeldFolder, token: string): Promise<LockHolder | null> {
  try {
    if (!(await lstat(folder.at(`lock/${token}`))).isDirectory()) return null;
    const content = await folder.read(`lock/${token}/holder.json`, holderBytesMax);
    return content === null ? null : decodeHolder(new TextDecoder().decode(content.bytes));
  } catch {
    return null;
  }
}

const holderBytesMax = 4096;

/** An empty folder is what a holder left, and goes. What others put there would be in the way, and is set aside. */
export async function clearLeft(folder: ScopedFolder, isEmpty: boolean): Promise<void> {
  if (isEmpty) return rmdir(folder.at("lock")).catch(() => {});
  const aside = folder.at(`foreign-${randomBytes(8).toString("hex")}`);
  await rename(folder.at("lock"), aside).catch((error: unknown) => {
    if (!hasCode(error, "ENOENT")) throw error;
  });
}

/** Comes with who holds it, at once: a folder that is not empty cannot be replaced. */
export async function takeFree(
  folder: ScopedFolder,
  token: string,
  options: LockOptions,
): Promise<boolean> {
  try {
    await introduce(folder, token, options);
    await rename(folder.at(`take-${token}`), folder.at("lock"));
    return true;
  } catch (error) {
    if (hasCode(error, "ENOTEMPTY", "EEXIST", "ENOENT")) return false;
    if (process.platform === "win32" && hasCode(error, "EPERM", "EACCES")) return false;
    throw error;
  }
}

/** Writes down who takes the lock; the file system's clock says when. */
export async function introduce(
  folder: ScopedFolder,
  token: string,
  { lifetimeMs, self = identifySelf() }: LockOptions,
): Promise<string> {
  const own = `take-${token}`;
  await makeFolder(folder.at(own));
  await makeFolder(folder.at(`${own}/${token}`));
  const file = folder.at(`${own}/${token}/holder.json`);
  await writeFile(file, encodeHolder({ ...self, token, lifetimeMs }), { mode: 0o600 });
  return file;
}

/** Not the folders above it: where they are gone, somebody else is at work. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, 0o700);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  }
}

/** A folder that is held open outlives its name, but nothing can be made in it. */
export async function isRemoved(folder: ScopedFolder): Promise<boolean> {
  const stats = await stat(folder.self).catch(unlessMissing);
  return stats === null || stats.nlink === 0;
}

/** Does nothing when that holder has it no more. */
export async function takeAway(folder: ScopedFolder, token: string): Promise<void> {
  const gone = folder.at(`gone-${token}-${randomBytes(4).toString("hex")}`);
  try {
    await rename(folder.at(`lock/${token}`), gone);
    await rm(gone, { recursive: true, force: true });
  } catch (error) {
    if (!hasCode(error, "ENOENT", "ENOTDIR")) throw error;
  }
  await rmdir(folder.at("lock")).catch(() => {});
}

/** What crashed processes left in the folder. For whoever holds the lock. */
export async function sweepLeftovers(folder: ScopedFolder, nowMs: number): Promise<void> {
  for (const name of await readdir(folder.self)) {
    if (!/^(?:take|gone)-[0-9a-f]{16}/.test(name)) continue;
    const stats = await lstat(folder.at(name)).catch(() => null);
    if (stats === null || nowMs - stats.mtimeMs < leftoverAgeMs) continue;
    await rm(folder.at(name), { recursive: true, force: true });
  }
}

/** Nobody waits so long for a lock; whose folder is gone all the same makes another. */
const leftoverAgeMs = 60_000;
