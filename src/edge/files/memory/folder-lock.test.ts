import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createGuardedFiles } from "../guard/guarded-files.ts";
import { readBounded } from "../guard/scoped-read.ts";
import type { HeldFolder } from "./held-folder.ts";
import { holdLock, type HeldLock } from "./folder-lock.ts";
import {
  decodeHolder,
  encodeHolder,
  lookAtLock,
  sweepLeftovers,
  type LockOptions,
} from "./lock-files.ts";
import { identifySelf, isGone } from "../../stores/process-identity.ts";

let path = "";
let folder: HeldFolder;

beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), "strata-lock-"));
  folder = {
    self: path,
    at: (name) => join(path, name),
    check: () => Promise.resolve(),
    sync: () => Promise.resolve(),
    close: () => Promise.resolve(),
    read: (name, bytesMax) => readBounded(root, folder, name, { path: name, bytesMax }),
  };
});
const guarded = createGuardedFiles(() => []);
const root = { path: "", dev: 0n, ino: 0n, hasDescriptorPaths: true, guarded };

afterEach(() => rmSync(path, { recursive: true, force: true }));

async function hold(options: Partial<LockOptions> = {}): Promise<HeldLock> {
  const lock = await holdLock(folder, { lifetimeMs: 60_000, waitMsMax: 10_000, ...options });
  if (lock === null) throw new Error("the folder is gone");
  return lock;
}

async function holdAndRelease(options: Partial<LockOptions> = {}): Promise<"held"> {
  const lock = await hold(options);
  await lock.release();
  return "held";
}

/** A lock of this age whose holder is not there to release it. */
function leave(holder: Record<string, unknown> | null, ageMs = 0): void {
  const token = "0123456789abcdef";
  mkdirSync(join(path, "lock", token), { recursive: true });
  const file = join(path, "lock", token, "holder.json");
  const whole = { ...identifySelf(), token, lifetimeMs: 60_000, ...holder };
  writeFileSync(file, holder === null ? "" : JSON.stringify(whole));
  const then = (Date.now() - ageMs) / 1000;
  utimesSync(file, then, then);
}

const makePipe = "mkfifo";

const elsewhere = { pid: 1, place: "another machine", started: "1" };

describe("one at a time", () => {
  test("the second waits for the first to give it back, and nothing is left behind", async () => {
    const first = await hold();
    const order: string[] = [];
    const second = hold().then(async (lock) => {
      order.push("second");
      await lock.release();
    });
    await wait(60);
    order.push("first");
    await first.release();
    await second;
    expect(order).toEqual(["first", "second"]);
    expect(readdirSync(path)).toEqual([]);
  });

  test("a waiter that waits too long learns who holds it, and leaves nothing behind", async () => {
    const first = await hold();
    await expect(hold({ waitMsMax: 40 })).rejects.toThrow(
      `memory is being written by process ${process.pid}; waited 40 ms`,
    );
    await first.release();
    expect(readdirSync(path)).toEqual([]);
  });

  test("waiting ends when it is cancelled", async () => {
    const first = await hold();
    const signal = AbortSignal.timeout(30);
    await expect(hold({ signal })).rejects.toThrow(/timeout|aborted/);
    await first.release();
    expect(readdirSync(path)).toEqual([]);
  });

  test("many concurrent waiters each get it once", async () => {
    let inside = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 12 }, async () => {
        const lock = await hold();
        most = Math.max(most, (inside += 1));
        await wait(1);
        inside -= 1;
        await lock.release();
      }),
    );
    expect(most).toBe(1);
    expect(readdirSync(path)).toEqual([]);
  });
});

describe("a holder that does not give it back", () => {
  test("on this machine and gone: it is taken immediately", async () => {
    leave({ pid: 2 ** 22 + 12_345, started: null });
    const started = performance.now();
    expect(await holdAndRelease()).toBe("held");
    expect(performance.now() - started).toBeLessThan(5000);
  });

  test("whose number another process has now: it is taken immediately", async () => {
    leave({ pid: process.pid, started: "1" });
    expect(await holdAndRelease({ waitMsMax: 5000 })).toBe("held");
  });

  test.each([
    ["on this machine", {}],
    ["on another machine", elsewhere],
  ])("alive and overdue, %s: it is taken immediately", async (_where, holder) => {
    leave(holder, 70_000);
    expect(await holdAndRelease({ waitMsMax: 5000 })).toBe("held");
  });

  test.each([
    ["on this machine", {}],
    ["on another machine", elsewhere],
  ])("alive and in time, %s: it is waited for", async (_where, holder) => {
    leave(holder, 30_000);
    await expect(hold({ waitMsMax: 100 })).rejects.toThrow("is being written");
    expect(readdirSync(path)).toEqual(["lock"]);
  });

  test("from the future, since a clock was set back: it is watched for its lifetime", async () => {
    leave({ ...elsewhere, lifetimeMs: 150 }, -1_000_000);
    const started = performance.now();
    expect(await holdAndRelease({ waitMsMax: 5000 })).toBe("held");
    expect(performance.now() - started).toBeGreaterThan(140);
  });

  test("unknown after a power cut: our own lifetime counts", async () => {
    leave(null);
    expect(await holdAndRelease({ lifetimeMs: 100, waitMsMax: 5000 })).toBe("held");
  });

  test("who claims to hold it for a year is not believed for more than a minute", async () => {
    leave({ lifetimeMs: 3e10 }, 61_000);
    expect(await holdAndRelease({ waitMsMax: 5000 })).toBe("held");
  });
});

describe("a holder that lost it", () => {
  test("can put nothing in place any more, however late it comes", async () => {
    const slow = await hold({ lifetimeMs: 50 });
    expect(await slow.stage("MEMORY.md", "slow", 0o600)).toBe(true);
    await wait(60);
    const quick = await hold();
    expect(await quick.stage("MEMORY.md", "quick", 0o600)).toBe(true);
    expect(slow.commit("MEMORY.md", join(path, "target"))).toBe(false);
    expect(await slow.stage("more", "slow", 0o600)).toBe(false);
    expect(quick.commit("MEMORY.md", join(path, "target"))).toBe(true);
    await slow.release();
    expect(readFileSync(join(path, "target"), "utf8")).toBe("quick");
    await quick.release();
    expect(readdirSync(path)).toEqual(["target"]);
  });

  test("does not take it from its successor when it gives it back", async () => {
    const slow = await hold({ lifetimeMs: 30 });
    await wait(40);
    const quick = await hold();
    await slow.release();
    await expect(hold({ waitMsMax: 50 })).rejects.toThrow("is being written");
    await quick.release();
  });

  test("an error that is not about the lock is not taken for a lost one", async () => {
    const lock = await hold();
    await lock.stage("a", "x", 0o600);
    expect(() => lock.commit("a", join(path, "none", "a"))).toThrow("ENOENT");
    await lock.release();
  });
});

describe("odd things in the folder", () => {
  test("a lock that is empty, or holds what is not ours, does not block", async () => {
    mkdirSync(join(path, "lock"));
    expect(await holdAndRelease({ waitMsMax: 2000 })).toBe("held");
    mkdirSync(join(path, "lock"));
    writeFileSync(join(path, "lock", "notes.txt"), "mine");
    expect(await holdAndRelease({ waitMsMax: 2000 })).toBe("held");
    const [aside = "", ...others] = readdirSync(path);
    expect([aside.replace(/[0-9a-f]{16}$/, "…"), others]).toEqual(["foreign-…", []]);
    expect(readFileSync(join(path, aside, "notes.txt"), "utf8")).toBe("mine");
  });

  test("a link or a pipe in the place of a holder is no holder, and nothing is read through it", async () => {
    leave(null);
    const place = join(path, "lock", "0123456789abcdef");
    rmSync(join(place, "holder.json"));
    execFileSync(makePipe, [join(place, "holder.json")]);
    expect(await holdAndRelease({ lifetimeMs: 50, waitMsMax: 5000 })).toBe("held");
    const outside = mkdtempSync(join(tmpdir(), "strata-outside-"));
    try {
      writeFileSync(
        join(outside, "holder.json"),
        JSON.stringify({ ...identifySelf(), lifetimeMs: 9 }),
      );
      mkdirSync(join(path, "lock"));
      symlinkSync(outside, join(path, "lock", "0123456789abcdef"));
      const seen = await lookAtLock(folder);
      expect(seen).toEqual({ kind: "held", token: "0123456789abcdef", holder: null });
      expect(await holdAndRelease({ lifetimeMs: 50, waitMsMax: 5000 })).toBe("held");
      expect(readdirSync(outside)).toEqual(["holder.json"]);
    } finally {
      rmSync(outside, { recursive: true, force: true });
    }
  });

  test("a file in its place is reported", async () => {
    writeFileSync(join(path, "lock"), "");
    await expect(hold()).rejects.toThrow("memory-journal/lock is not a folder of ours; remove it");
  });

  test("a folder that was removed is not mistaken for one in use", async () => {
    const handle = await open(path);
    const byDescriptor = `/proc/self/fd/${handle.fd}`;
    const removed = {
      ...folder,
      self: byDescriptor,
      at: (name: string) => `${byDescriptor}/${name}`,
    };
    rmSync(path, { recursive: true });
    const options = { lifetimeMs: 1000, waitMsMax: 5000 };
    expect(await holdLock(folder, options)).toBeNull();
    expect(await holdLock(removed, options)).toBeNull();
    await handle.close();
  });

  test("what crashes left is swept when it is old, and nothing else", async () => {
    for (const name of [
      "take-0000000000000000",
      "gone-1111111111111111-22222222",
      "take-3333333333333333",
      "notes",
    ]) {
      mkdirSync(join(path, name, "inner"), { recursive: true });
    }
    for (const name of ["take-0000000000000000", "gone-1111111111111111-22222222", "notes"]) {
      utimesSync(join(path, name), 1000, 1000);
    }
    await sweepLeftovers(folder, Date.now());
    expect(readdirSync(path)).toEqual(["notes", "take-3333333333333333"]);
  });
});

describe("who a holder is", () => {
  test("comes back from its text; a text that is not certain is no holder", () => {
    const holder = { ...identifySelf(), token: "t", lifetimeMs: 6 };
    expect(decodeHolder(encodeHolder(holder))).toEqual(holder);
    for (const text of ["", "{", "null", "7", '{"pid":0}', '{"pid":1,"place":"x"}']) {
      expect(decodeHolder(text)).toBeNull();
    }
  });

  test("this process is here; a process elsewhere is never known to be gone", () => {
    const self = identifySelf();
    expect(isGone(self, self)).toBe(false);
    expect(isGone({ ...self, pid: 2 ** 22 + 7 }, self)).toBe(true);
    expect(isGone({ ...self, pid: 2 ** 22 + 7, place: "another machine" }, self)).toBe(false);
  });
});
