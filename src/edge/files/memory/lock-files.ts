// The lock's files: `lock` with the holder's folder in it, `take-…` of waiters, `gone-…` of earlier holders,
// `foreign-…` of anything else found there.
import { randomBytes } from "node:crypto";
import { lstat, readdir, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { parseFields } from "../../../core/message/fields.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import { hasCode, unlessMissing } from "../guard/scoped-failure.ts";
import { makeFolder, type ScopedFolder } from "../guard/scoped-folder.ts";
import type { HeldFolder } from "./held-folder.ts";
import { identifySelf, type ProcessIdentity } from "../../stores/process-identity.ts";

export interface LockOptions {
  /** After this time, others take the lock away. */
  readonly lifetimeMs: number;
  /** How long to wait for others. */
  readonly waitMsMax: number;
  readonly self?: ProcessIdentity;
  readonly signal?: AbortSignal;
}

/** `left`: the lock is free, but an empty folder or foreign content is in the way. */
export type SeenLock =
  | { readonly kind: "free" }
  | { readonly kind: "left"; readonly isEmpty: boolean }
  | HeldBy;

export interface HeldBy {
  readonly kind: "held";
  readonly token: string;
  /** Null if the holder is unknown. */
  readonly holder: LockHolder | null;
}

/** The holder as written into the lock. */
interface LockHolder extends ProcessIdentity {
  readonly token: string;
  readonly lifetimeMs: number;
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

/** Null if the content cannot be trusted, or if a link or a pipe stands in its place. */
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

export function encodeHolder(holder: LockHolder): string {
  return `${JSON.stringify(holder)}\n`;
}

/** Null if the text cannot be trusted, as after a power cut. */
export function decodeHolder(text: string): LockHolder | null {
  const value = parseFields(text);
  if (value === undefined) return null;
  const { pid, place, started, token, lifetimeMs } = value;
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0) return null;
  if (typeof place !== "string" || typeof token !== "string") return null;
  if (typeof lifetimeMs !== "number") return null;
  return { pid, place, started: typeof started === "string" ? started : null, token, lifetimeMs };
}

/** Removes an empty folder that a holder left. Moves foreign content aside. */
export async function clearLeft(folder: ScopedFolder, isEmpty: boolean): Promise<void> {
  if (isEmpty) return rmdir(folder.at("lock")).catch(() => {});
  const aside = folder.at(`foreign-${randomBytes(8).toString("hex")}`);
  await rename(folder.at("lock"), aside).catch((error: unknown) => {
    if (!hasCode(error, "ENOENT")) throw error;
  });
}

/** Appears together with its holder: a rename cannot replace a non-empty folder. */
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

/** Writes who takes the lock. The file system's clock gives the time. */
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

/** A folder that is held open survives its removal, but nothing can be created in it. */
export async function isRemoved(folder: ScopedFolder): Promise<boolean> {
  const stats = await stat(folder.self).catch(unlessMissing);
  return stats === null || stats.nlink === 0;
}

/** Does nothing if that holder no longer has the lock. */
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

/** Removes what crashed processes left. Only the lock holder may call this. */
export async function sweepLeftovers(folder: ScopedFolder, nowMs: number): Promise<void> {
  for (const name of await readdir(folder.self)) {
    if (!/^(?:take|gone)-[0-9a-f]{16}/.test(name)) continue;
    const stats = await lstat(folder.at(name)).catch(() => null);
    if (stats === null || nowMs - stats.mtimeMs < leftoverAgeMs) continue;
    await rm(folder.at(name), { recursive: true, force: true });
  }
}

/** No waiter waits that long. A waiter whose folder was swept creates a new one. */
const leftoverAgeMs = 60_000;
