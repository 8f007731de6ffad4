// What the file system refuses during a change. Method: its functions are replaced for one test.
import fs, {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import fsp, { open } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openMemoryStore, type MemoryStore } from "./memory-store.ts";

let workspace = "";
let store: MemoryStore;
const real = { renameSync: fs.renameSync, rename: fsp.rename };

beforeEach(async () => {
  workspace = mkdtempSync(join(tmpdir(), "strata-memory-"));
  store = await openMemoryStore(workspace);
  await store.addEntry("MEMORY.md", "one");
});
afterEach(() => {
  mend();
  rmSync(workspace, { recursive: true, force: true });
});

function mend(): void {
  fs.renameSync = real.renameSync;
  fsp.rename = real.rename;
  syncBuiltinESMExports();
}

function failure(code: string, syscall: string): Error {
  return Object.assign(new Error(`${code}: ${syscall}`), { code, syscall });
}

/** Intercepts every rename to a memory file. */
function onCommit(rename: (from: string, to: string) => void): void {
  fs.renameSync = (from, to) => {
    if (String(to).endsWith("MEMORY.md")) rename(String(from), String(to));
    else real.renameSync(from, to);
  };
  syncBuiltinESMExports();
}

function onDisk(): string {
  return readFileSync(join(workspace, ".strata", "MEMORY.md"), "utf8");
}

function entries(): readonly string[] {
  return readdirSync(join(workspace, ".strata", "memory-journal")).filter((name) =>
    name.endsWith(".json"),
  );
}

describe("what fails once the change is in place does not unmake it", () => {
  test("a folder that cannot be brought to the disk: it is written, and a note says what is not known", async () => {
    const handle = await open(workspace);
    const prototype = Object.getPrototypeOf(handle) as { sync: () => Promise<void> };
    await handle.close();
    const { sync } = prototype;
    onCommit((from, to) => {
      real.renameSync(from, to);
      prototype.sync = () => Promise.reject(failure("EIO", "fsync"));
    });
    try {
      const outcome = await store.addEntry("MEMORY.md", "two");
      expect(outcome).toMatchObject({
        kind: "written",
        notes: [
          ".strata/MEMORY.md is changed, but it is not known whether that is on the disk: a power cut could still undo it.",
        ],
      });
    } finally {
      prototype.sync = sync;
      mend();
    }
    expect(onDisk()).toBe("one\ntwo\n");
    expect(await store.undo("MEMORY.md")).toMatchObject({ kind: "undone", notes: [] });
  });

  test("a lock that cannot be given back: it is written, and a note says that others wait", async () => {
    fsp.rename = (from, to) =>
      String(to).includes("/gone-")
        ? Promise.reject(failure("EIO", "rename"))
        : real.rename(from, to);
    syncBuiltinESMExports();
    const outcome = await store.addEntry("MEMORY.md", "two");
    expect(outcome).toMatchObject({
      kind: "written",
      notes: [
        "The lock on memory could not be given back; the next write may have to wait for some seconds.",
      ],
    });
    expect(onDisk()).toBe("one\ntwo\n");
  });

  test("a rename that reports a failure after it was done counts as done", async () => {
    onCommit((from, to) => {
      real.renameSync(from, to);
      throw failure("EIO", "rename");
    });
    expect(await store.addEntry("MEMORY.md", "two")).toMatchObject({ kind: "written" });
    expect(onDisk()).toBe("one\ntwo\n");
  });
});

describe("what never happened leaves nothing in the journal", () => {
  test("a file that may not be replaced: the error names it, and real versions stay", async () => {
    const small = await openMemoryStore(workspace, {
      journal: { versionsMax: 2, bytesMax: 10_000 },
    });
    onCommit(() => {
      throw failure("EACCES", "rename");
    });
    for (const number of [1, 2, 3]) {
      await expect(small.addEntry("MEMORY.md", `try ${number}`)).rejects.toThrow(
        '".strata/MEMORY.md" may not be touched (EACCES)',
      );
    }
    expect(entries()).toEqual(["00000001.json"]);
    mend();
    await small.addEntry("MEMORY.md", "two");
    expect((await small.log()).entries.map(({ before }) => before)).toEqual(["", "one\n"]);
  });

  test("a write that was cancelled before it began makes no folder", async () => {
    const other = mkdtempSync(join(tmpdir(), "strata-memory-"));
    try {
      const fresh = await openMemoryStore(other);
      const signal = AbortSignal.abort();
      await expect(fresh.addEntry("MEMORY.md", "x", { signal })).rejects.toThrow("aborted");
      expect(readdirSync(other)).toEqual([]);
      mkdirSync(join(other, ".strata"));
      writeFileSync(join(other, ".strata", "MEMORY.md"), "there\n");
      await expect(fresh.undo("MEMORY.md")).resolves.toMatchObject({ refusal: "nothing" });
      expect(readdirSync(join(other, ".strata"))).toEqual(["MEMORY.md"]);
    } finally {
      rmSync(other, { recursive: true, force: true });
    }
  });
});
