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
import { afterEach, beforeEach, expect, test } from "vitest";
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

test("whoever writes while memory moves loses nothing", async () => {
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
