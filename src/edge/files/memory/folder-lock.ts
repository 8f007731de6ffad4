// A lock that processes share through a folder. It never outlives its holder for long, and a holder that lost
// it can no longer write.
// The lock is a folder `lock` that contains one folder, named by the holder's token. A holder writes its files
// in there and renames them to their targets. Taking the lock away means renaming that inner folder: its name
// identifies the holder, and afterwards the holder's own renames find nothing. So there is no gap between
// checking the lock and writing; the file system does both in one step.
import { randomBytes } from "node:crypto";
import { existsSync, renameSync } from "node:fs";
import { lstat, open, rm } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { ToolError } from "../../../core/tools/tool.ts";
import { hasCode, isMissing, unlessMissing } from "../guard/scoped-failure.ts";
import type { ScopedFolder } from "../guard/scoped-folder.ts";
import type { HeldFolder } from "./held-folder.ts";
import * as files from "./lock-files.ts";
import { identifySelf, isGone } from "../../stores/process-identity.ts";

/** Longer than any write takes, and not longer than a person waits. */
export const defaultLockOptions: files.LockOptions = { lifetimeMs: 5000, waitMsMax: 20_000 };

export interface HeldLock {
  /** Writes a file to disk under the lock, not visible yet. False: the lock was lost. */
  stage(name: string, content: string | Uint8Array, mode: number): Promise<boolean>;
  /** Moves a staged file to its target atomically. False: the lock was lost, and nothing happened. */
  commit(name: string, target: string): boolean;
  /** Whether a staged file still waits to be moved. */
  isStaged(name: string): boolean;
  release(): Promise<void>;
}

/** Waits for others, and takes the lock from holders that ended or are overdue. Null: the folder was removed. */
export async function holdLock(
  folder: HeldFolder,
  options: files.LockOptions,
): Promise<HeldLock | null> {
  const token = randomBytes(8).toString("hex");
  const deadlineMs = performance.now() + options.waitMsMax;
  const isStale = createWatch(folder, token, options);
  try {
    for (;;) {
      options.signal?.throwIfAborted();
      const seen = await files.lookAtLock(folder);
      if (seen.kind === "left") await files.clearLeft(folder, seen.isEmpty);
      const isFree = seen.kind !== "held";
      if (isFree && (await files.takeFree(folder, token, options))) {
        return toHeld(folder, token);
      }
      if (!isFree && (await isStale(seen))) {
        await files.takeAway(folder, seen.token);
        continue;
      }
      if (isFree && (await files.isRemoved(folder))) return null;
      if (performance.now() > deadlineMs) throw busy(seen, options.waitMsMax);
      // Random, so that waiters do not run in step.
      await wait(2 + Math.random() * 10);
    }
  } catch (error) {
    await rm(folder.at(`take-${token}`), { recursive: true, force: true });
    throw error;
  }
}

/**
 * Whether the holder has certainly ended or is overdue. Clocks of machines differ, so a lock's age comes from
 * the clock of the shared file system: our own file, written now, against the holder's. From then on we also
 * count ourselves, in case that clock goes back or stops.
 */
function createWatch(
  folder: ScopedFolder,
  token: string,
  options: files.LockOptions,
): (held: files.HeldBy) => Promise<boolean> {
  const { lifetimeMs, self = identifySelf() } = options;
  let watched = { token: "", sinceMs: 0 };
  return async (held) => {
    const { holder } = held;
    if (holder !== null && isGone(holder, self)) return true;
    if (watched.token !== held.token) {
      const ageMs = await ageOf(folder, held.token, () => files.introduce(folder, token, options));
      watched = { token: held.token, sinceMs: performance.now() - ageMs };
    }
    const ownMs = holder === null ? lifetimeMs : Math.min(holder.lifetimeMs, lifetimeMsMax);
    return performance.now() - watched.sinceMs > ownMs;
  };
}

/** Zero if it cannot be determined. */
async function ageOf(
  folder: ScopedFolder,
  heldToken: string,
  writeOwn: () => Promise<string>,
): Promise<number> {
  try {
    const held = await lstat(folder.at(`lock/${heldToken}/holder.json`));
    const own = await lstat(await writeOwn());
    return Math.max(0, own.mtimeMs - held.mtimeMs);
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return 0;
    throw error;
  }
}

const lifetimeMsMax = 60_000;

function toHeld(folder: ScopedFolder, token: string): HeldLock {
  const at = (name: string): string => folder.at(`lock/${token}/${name}`);
  return {
    stage: async (name, content, mode) => {
      const handle = await open(at(name), "wx", mode).catch(unlessMissing);
      if (handle === null) return false;
      try {
        await handle.chmod(mode);
        await handle.writeFile(content);
        await handle.sync();
      } finally {
        await handle.close();
      }
      return true;
    },
    commit: (name, target) => {
      try {
        renameSync(at(name), target);
        return true;
      } catch (error) {
        if (isMissing(error) && !existsSync(at(name))) return false;
        throw error;
      }
    },
    isStaged: (name) => existsSync(at(name)),
    release: () => files.takeAway(folder, token),
  };
}

function busy(seen: files.SeenLock, waitedMs: number): ToolError {
  const holder = seen.kind === "held" ? seen.holder : null;
  const who = holder === null ? "another process" : `process ${holder.pid}`;
  return new ToolError(
    "execution_error",
    `memory is being written by ${who}; waited ${waitedMs} ms for it. Nothing was changed; try again`,
    { isUserVisible: true },
  );
}
