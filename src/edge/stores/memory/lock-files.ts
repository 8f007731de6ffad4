// The lock as it lies in its folder: `lock` with the holder's folder in it, `take-…` of those who want it, `gone-…` of those who had it.
import { randomBytes } from "node:crypto";
import {
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from "node:fs/promises";
import { ToolError } from "../../../core/tools/tool.ts";
import { hasCode, isMissing } from "../scoped-failure.ts";
import type { ScopedFolder } from "../scope-root.ts";
import {
  decodeHolder,
  encodeHolder,
  identifySelf,
  type LockHolder,
  type ProcessIdentity,
} from "./lock-holder.ts";

export interface LockOptions {
  /** After it, others take the lock away. */
  readonly lifetimeMs: number;
  /** How long to wait for others. */
  readonly waitMsMax: number;
  readonly self?: ProcessIdentity;
  readonly signal?: AbortSignal;
}

/** Who has the lock; null for a holder that is not known. */
export type SeenLock =
  | { readonly kind: "free" }
  | { readonly kind: "held"; readonly token: string; readonly holder: LockHolder | null };

export type HeldBy = Extract<SeenLock, { readonly kind: "held" }>;

export async function lookAtLock(folder: ScopedFolder): Promise<SeenLock> {
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
  if (token !== undefined) {
    const text = await readFile(folder.at(`lock/${token}/holder.json`), "utf8").catch(() => "");
    return { kind: "held", token, holder: decodeHolder(text) };
  }
  // An empty one is what a holder left; something else was put there by somebody else, and would be in the way.
  if (names.length === 0) await rmdir(folder.at("lock")).catch(() => {});
  else await moveAway(folder, "lock", randomBytes(8).toString("hex"));
  return { kind: "free" };
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
  await moveAway(folder, `lock/${token}`, token);
  await rmdir(folder.at("lock")).catch(() => {});
}

async function moveAway(folder: ScopedFolder, name: string, token: string): Promise<void> {
  const gone = folder.at(`gone-${token}-${randomBytes(4).toString("hex")}`);
  try {
    await rename(folder.at(name), gone);
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return;
    throw error;
  }
  await rm(gone, { recursive: true, force: true });
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

function unlessMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}
