import { execFileSync } from "node:child_process";
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
import { hashContent } from "../../../core/hash.ts";
import type { MemoryWrite } from "../../../core/memory/memory-write.ts";
import { openMemoryStore, type MemoryOutcome, type MemoryStore } from "./memory-store.ts";

let workspace = "";
let store: MemoryStore;

beforeEach(async () => {
  workspace = mkdtempSync(join(tmpdir(), "strata-memory-"));
  store = await openMemoryStore(workspace);
});
afterEach(() => rmSync(workspace, { recursive: true, force: true }));

function onDisk(file = "MEMORY.md", folder = ".strata"): string {
  return readFileSync(join(workspace, folder, file), "utf8");
}

function edit(text: string, file = "MEMORY.md", folder = ".strata"): void {
  mkdirSync(join(workspace, folder), { recursive: true });
  writeFileSync(join(workspace, folder, file), text);
}

function writeOf(outcome: MemoryOutcome): MemoryWrite {
  if (outcome.kind === "refused") throw new Error(`refused: ${outcome.refusal.kind}`);
  return outcome.write;
}

async function confirmed(content: string, file = "MEMORY.md"): Promise<MemoryWrite> {
  const { hash } = await store.peek(file);
  const how = { seenHash: hash, isDropConfirmed: true };
  return writeOf(await store.consolidate(file, content, how));
}

const makePipe = "mkfifo";

describe("taking changes back", () => {
  test("one after the other, to the beginning", async () => {
    await store.addEntry("MEMORY.md", "one");
    await store.addEntry("MEMORY.md", "two");
    await store.addEntry("USER.md", "other");
    await confirmed("1\n");
    expect(await store.undo("MEMORY.md")).toMatchObject({
      kind: "undone",
      entry: { operation: "consolidate", number: 4 },
      path: ".strata/MEMORY.md",
      sizeBytes: 8,
    });
    expect(onDisk()).toBe("one\ntwo\n");
    await store.undo("MEMORY.md");
    await store.undo("MEMORY.md");
    expect(onDisk()).toBe("");
    expect(await store.undo("MEMORY.md")).toEqual({ kind: "refused", refusal: "edited" });
    expect(onDisk("USER.md")).toBe("other\n");
  });

  test("not what a person wrote by hand since, unless a version is named; and nothing is lost by it", async () => {
    await store.addEntry("MEMORY.md", "one");
    edit("by hand\n");
    expect(await store.undo("MEMORY.md")).toEqual({ kind: "refused", refusal: "edited" });
    await store.undo("MEMORY.md", { to: 1 });
    expect(onDisk()).toBe("");
    await store.undo("MEMORY.md", { to: 2 });
    expect(onDisk()).toBe("by hand\n");
    expect(await store.undo("MEMORY.md", { to: 99 })).toMatchObject({ refusal: "no such version" });
    expect(await store.undo("USER.md")).toMatchObject({ refusal: "nothing" });
  });

  test("the journal has an end, is not for version control, and goes on over what is damaged", async () => {
    const small = await openMemoryStore(workspace, {
      journal: { versionsMax: 3, bytesMax: 10_000 },
      now: () => 1234,
    });
    for (const number of [1, 2, 3, 4, 5]) await small.addEntry("MEMORY.md", `entry ${number}`);
    const folder = join(workspace, ".strata", "memory-journal");
    expect(readdirSync(folder)).toEqual([
      ".gitignore",
      "00000003.json",
      "00000004.json",
      "00000005.json",
    ]);
    expect(readFileSync(join(folder, ".gitignore"), "utf8")).toBe("*\n");
    writeFileSync(join(folder, "00000009.json"), '{"number":');
    const { entries, damaged } = await small.log();
    expect(entries.map(({ number, atMs }) => [number, atMs])).toEqual([
      [3, 1234],
      [4, 1234],
      [5, 1234],
    ]);
    expect(damaged).toEqual(["00000009.json"]);
    await small.addEntry("MEMORY.md", "entry 6");
    expect((await small.log()).entries.at(-1)?.number).toBe(10);
    expect(existsSync(join(folder, "lock"))).toBe(false);
  });

  test("also one whose undo a crash broke off, or whose undo was taken back by naming a version", async () => {
    await store.addEntry("MEMORY.md", "one");
    await store.addEntry("MEMORY.md", "two");
    const folder = join(workspace, ".strata", "memory-journal");
    // The entry of an undo that was killed before it replaced the file.
    const broken = {
      number: 3,
      atMs: 1,
      file: "MEMORY.md",
      operation: "undo",
      undoes: 2,
      before: "one\ntwo\n",
      afterHash: hashContent("one\n"),
      afterSizeBytes: 4,
    };
    writeFileSync(join(folder, "00000003.json"), JSON.stringify(broken));
    expect(await store.undo("MEMORY.md")).toMatchObject({ kind: "undone", entry: { number: 2 } });
    expect(onDisk()).toBe("one\n");
    await store.undo("MEMORY.md", { to: 4 });
    expect(onDisk()).toBe("one\ntwo\n");
    expect(await store.undo("MEMORY.md")).toMatchObject({ kind: "undone", entry: { number: 5 } });
    expect(onDisk()).toBe("one\n");
    expect(await store.undo("MEMORY.md")).toMatchObject({ kind: "undone", entry: { number: 1 } });
  });

  test("what came back and was seen before may be consolidated; what others wrote may not", async () => {
    edit("not mine\n");
    await store.addEntry("MEMORY.md", "mine");
    await store.read("MEMORY.md");
    await store.addEntry("MEMORY.md", "more");
    await store.undo("MEMORY.md");
    writeOf(await store.consolidate("MEMORY.md", "not mine, mine\n"));
    await store.undo("MEMORY.md");
    await store.undo("MEMORY.md");
    expect(onDisk()).toBe("not mine\n");
    expect(await store.consolidate("MEMORY.md", "not mine, is it?\n")).toMatchObject({
      refusal: { kind: "changed-meanwhile" },
    });
  });

  test("nothing outside is read through the journal: what is no file of ours counts as damaged and does not block", async () => {
    await store.addEntry("MEMORY.md", "one");
    const folder = join(workspace, ".strata", "memory-journal");
    const outside = join(workspace, "secret.json");
    const real = readFileSync(join(folder, "00000001.json"), "utf8");
    writeFileSync(
      outside,
      real.replace('"number":1', '"number":2').replace('"before":""', '"before":"secret"'),
    );
    symlinkSync(outside, join(folder, "00000002.json"));
    symlinkSync("/dev/zero", join(folder, "00000003.json"));
    execFileSync(makePipe, [join(folder, "00000004.json")]);
    mkdirSync(join(folder, "00000005.json"));
    writeFileSync(join(folder, "00000006.json"), Buffer.from([0xff, 0xfe]));
    const { entries, damaged } = await store.log();
    expect(entries.map(({ number }) => number)).toEqual([1]);
    expect(damaged).toEqual([2, 3, 4, 5, 6].map((number) => `0000000${number}.json`));
    expect(await store.undo("MEMORY.md", { to: 2 })).toMatchObject({ refusal: "no such version" });
    writeOf(await store.addEntry("MEMORY.md", "two"));
    expect((await store.log()).entries.at(-1)?.number).toBe(7);
    expect(onDisk()).toBe("one\ntwo\n");
  });

  test("numbers go on past impossibly large ones, and past eight digits in their order", async () => {
    await store.addEntry("MEMORY.md", "one");
    const folder = join(workspace, ".strata", "memory-journal");
    const first = readFileSync(join(folder, "00000001.json"), "utf8");
    for (const stray of ["99999999999999999999.json", "9999999999999999999999.json"]) {
      writeFileSync(join(folder, stray), first);
    }
    writeFileSync(join(folder, "99999999.json"), first.replace('"number":1', '"number":99999999'));
    await store.addEntry("MEMORY.md", "two");
    await store.addEntry("MEMORY.md", "three");
    const { entries, damaged } = await store.log();
    expect(entries.map(({ number }) => number)).toEqual([1, 99_999_999, 100_000_000, 100_000_001]);
    expect(damaged).toHaveLength(2);
    await store.undo("MEMORY.md");
    expect(onDisk()).toBe("one\ntwo\n");
  });

  test.each([-5, 1.75, Number.NaN])("a clock that says %d damages no entry", async (now) => {
    const odd = await openMemoryStore(workspace, { now: () => now });
    await odd.addEntry("MEMORY.md", "one");
    expect((await odd.log()).damaged).toEqual([]);
    expect(await odd.undo("MEMORY.md")).toMatchObject({ kind: "undone" });
  });
});
