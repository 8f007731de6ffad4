import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openMemoryStore } from "./memory-store.ts";
import { migrateMemory } from "./migrate-memory.ts";

let workspace = "";

beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), "strata-memory-"));
});
afterEach(() => rmSync(workspace, { recursive: true, force: true }));

function put(path: string, text: string): void {
  mkdirSync(join(workspace, path, ".."), { recursive: true });
  writeFileSync(join(workspace, path), text);
}

function at(path: string): string {
  return readFileSync(join(workspace, path), "utf8");
}

test("memory and its journal move; undo works as before, and nothing of .metis is left", async () => {
  put(".metis/MEMORY.md", "old\n");
  put(".metis/USER.md", "Ada\n");
  const store = await openMemoryStore(workspace);
  await store.addEntry("MEMORY.md", "new");
  expect(await migrateMemory(workspace)).toEqual({ moved: ["MEMORY.md", "USER.md"], left: [] });
  expect(readdirSync(workspace)).toEqual([".strata"]);
  expect(at(".strata/MEMORY.md")).toBe("old\nnew\n");
  expect(await store.undo("MEMORY.md")).toMatchObject({ path: ".strata/MEMORY.md" });
  expect(at(".strata/MEMORY.md")).toBe("old\n");
});

test("what else is in .metis stays and is named", async () => {
  put(".metis/MEMORY.md", "old\n");
  put(".metis/trace.db", "…");
  put(".strata/skills/a/SKILL.md", "…");
  expect(await migrateMemory(workspace)).toEqual({ moved: ["MEMORY.md"], left: ["trace.db"] });
  expect(readdirSync(join(workspace, ".metis"))).toEqual(["trace.db"]);
  const store = await openMemoryStore(workspace);
  expect((await store.read("MEMORY.md")).text).toBe("old\n");
});

test("two files of one name that differ are left to a person; the same text is one file", async () => {
  put(".metis/MEMORY.md", "theirs\n");
  put(".metis/USER.md", "Ada\n");
  put(".strata/MEMORY.md", "ours\n");
  await expect(migrateMemory(workspace)).rejects.toThrow("MEMORY.md is in .metis and in .strata");
  expect([at(".metis/MEMORY.md"), at(".metis/USER.md"), at(".strata/MEMORY.md")]).toEqual([
    "theirs\n",
    "Ada\n",
    "ours\n",
  ]);
  put(".metis/MEMORY.md", "ours\n");
  expect(await migrateMemory(workspace)).toEqual({ moved: ["MEMORY.md", "USER.md"], left: [] });
  expect(existsSync(join(workspace, ".metis"))).toBe(false);
});

test("nothing to move is no error, and makes nothing", async () => {
  expect(await migrateMemory(workspace)).toEqual({ moved: [], left: [] });
  put(".metis/trace.db", "…");
  expect(await migrateMemory(workspace)).toEqual({ moved: [], left: ["trace.db"] });
  expect(readdirSync(workspace)).toEqual([".metis"]);
});

test("a symlink is not moved", async () => {
  put("elsewhere", "secret\n");
  mkdirSync(join(workspace, ".metis"));
  symlinkSync(join(workspace, "elsewhere"), join(workspace, ".metis", "MEMORY.md"));
  await expect(migrateMemory(workspace)).rejects.toThrow("symbolic link");
});

test("a writer loses nothing while memory moves", async () => {
  put(".metis/MEMORY.md", "start\n");
  const stores = await Promise.all([1, 2, 3].map(() => openMemoryStore(workspace)));
  const writing = stores.flatMap((store, writer) =>
    [1, 2, 3, 4].map((number) => store.addEntry("MEMORY.md", `writer ${writer} entry ${number}`)),
  );
  await new Promise((resolve) => setTimeout(resolve, 15));
  await migrateMemory(workspace);
  const outcomes = await Promise.all(writing);
  expect(outcomes.every(({ kind }) => kind === "written")).toBe(true);
  expect(at(".strata/MEMORY.md").trimEnd().split("\n")).toHaveLength(13);
  expect(existsSync(join(workspace, ".metis", "MEMORY.md"))).toBe(false);
});

/** Another process that kills itself when it reaches the condition. */
function migrateUntil(condition: string): void {
  const code = `
    import fsp from "node:fs/promises";
    import fs from "node:fs";
    import { syncBuiltinESMExports } from "node:module";
    const real = { link: fsp.link, unlink: fsp.unlink };
    const die = () => process.kill(process.pid, "SIGKILL");
    const at = (step, path) => { if (${condition}) die(); };
    fsp.link = async (from, to) => { at("link", String(to)); return real.link(from, to); };
    fsp.unlink = async (path) => { at("unlink", String(path)); return real.unlink(path); };
    syncBuiltinESMExports();
    const { migrateMemory } = await import(${JSON.stringify(new URL("migrate-memory.ts", import.meta.url).href)});
    await migrateMemory(${JSON.stringify(workspace)});
    console.log("done");`;
  const ran = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
    encoding: "utf8",
  });
  expect([ran.signal, ran.stdout]).toEqual(["SIGKILL", ""]);
}

describe("a move that is killed on its way", () => {
  beforeEach(async () => {
    put(".metis/MEMORY.md", "old\n");
    put(".metis/USER.md", "Never deploy on Friday.\n");
    await (await openMemoryStore(workspace)).addEntry("MEMORY.md", "kept");
  });

  test.each([
    ["before the first file is there", `step === "link" && path.endsWith("/MEMORY.md")`, ".metis"],
    ["between the files", `step === "link" && path.endsWith("/USER.md")`, ".metis"],
    ["before the first file leaves", `step === "unlink" && path.endsWith("/MEMORY.md")`, ".strata"],
    ["between the files that leave", `step === "unlink" && path.endsWith("/USER.md")`, ".strata"],
    ["before the marker goes", `step === "unlink" && path.endsWith("/move.json")`, ".strata"],
  ])(
    "%s: memory is in one place, can be written, and moves the next time",
    async (_when, condition, folder) => {
      migrateUntil(condition);
      const store = await openMemoryStore(workspace);
      expect((await store.place()).folder).toBe(folder);
      expect((await store.peek("USER.md")).text).toBe("Never deploy on Friday.\n");
      expect((await store.log()).entries).toHaveLength(1);
      await store.addEntry("MEMORY.md", "meanwhile");
      await store.addEntry("USER.md", "Ada");
      const { left } = await migrateMemory(workspace);
      expect(left).toEqual([]);
      expect(readdirSync(workspace)).toEqual([".strata"]);
      expect(at(".strata/MEMORY.md")).toBe("old\nkept\nmeanwhile\n");
      expect(at(".strata/USER.md")).toBe("Never deploy on Friday.\nAda\n");
      await store.undo("MEMORY.md");
      await store.undo("MEMORY.md");
      expect(at(".strata/MEMORY.md")).toBe("old\n");
      expect(readdirSync(join(workspace, ".strata", "memory-journal"))).not.toContain("move.json");
    },
  );
});

test("a reader sees all of memory while it moves", async () => {
  for (let round = 0; round < 10; round += 1) {
    rmSync(join(workspace, ".strata"), { recursive: true, force: true });
    put(".metis/MEMORY.md", "m\n");
    put(".metis/USER.md", "Never deploy on Friday.\n");
    const store = await openMemoryStore(workspace);
    const ended = new AbortController();
    const seen = new Set<string>();
    const reading = (async () => {
      while (!ended.signal.aborted) seen.add((await store.peek("USER.md")).text);
    })();
    await migrateMemory(workspace);
    ended.abort();
    await reading;
    expect([...seen]).toEqual(["Never deploy on Friday.\n"]);
  }
});

test("where others wrote in the old folder because the mover slept, nothing has moved", async () => {
  put(".metis/MEMORY.md", "old\n");
  const slow = migrateMemory(workspace, { lifetimeMs: 1 });
  const other = await openMemoryStore(workspace);
  const writing = other.addEntry("MEMORY.md", "meanwhile");
  await Promise.allSettled([slow, writing]);
  expect((await other.peek("MEMORY.md")).text).toBe("old\nmeanwhile\n");
  await migrateMemory(workspace);
  expect(at(".strata/MEMORY.md")).toBe("old\nmeanwhile\n");
});
