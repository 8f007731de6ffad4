import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hashContent } from "../../../core/hash.ts";
import type { MemoryWrite } from "../../../core/memory/memory-write.ts";
import { openMemorySession } from "./memory-session.ts";
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

function modeOf(file: string): number {
  return statSync(join(workspace, ".strata", file)).mode & 0o777;
}

async function confirmed(content: string, file = "MEMORY.md"): Promise<MemoryWrite> {
  const { hash } = await store.peek(file);
  const how = { seenHash: hash, isDropConfirmed: true };
  return writeOf(await store.consolidate(file, content, how));
}

describe("the required tests of the seed", () => {
  test("S-15 empty reads: a missing file is an empty one", async () => {
    expect(await store.read("MEMORY.md")).toEqual({
      file: "MEMORY.md",
      text: "",
      hash: hashContent(""),
      sizeBytes: 0,
      isThere: false,
    });
    expect(await store.peek("USER.md")).toMatchObject({ isThere: false, sizeBytes: 0 });
  });

  test("S-15 lazy dir: nothing is made before the first write that happens", async () => {
    await store.read("MEMORY.md");
    await store.addEntry("MEMORY.md", " ");
    await store.addEntry("MEMORY.md", "x".repeat(5000));
    await store.replace("USER.md", "a", "b");
    await store.consolidate("USER.md", "");
    await store.undo("USER.md");
    await store.log();
    expect(readdirSync(workspace)).toEqual([]);
    await store.addEntry("MEMORY.md", "x");
    expect(readdirSync(workspace)).toEqual([".strata"]);
    expect((await store.peek("MEMORY.md")).isThere).toBe(true);
    expect((await store.peek("USER.md")).isThere).toBe(false);
  });

  test("S-15 newline discipline on disk", async () => {
    edit("no line end");
    await store.addEntry("MEMORY.md", "  next  ");
    expect(onDisk()).toBe("no line end\nnext\n");
  });

  test("S-15 unique replace on disk", async () => {
    edit("a b b\n");
    writeOf(await store.replace("MEMORY.md", "a", "c"));
    expect(onDisk()).toBe("c b b\n");
    expect(await store.replace("MEMORY.md", "b", "x")).toEqual({
      kind: "refused",
      file: "MEMORY.md",
      refusal: { kind: "old-count", count: 2 },
    });
    expect(onDisk()).toBe("c b b\n");
  });

  test("S-15 soft allowed: a write over the soft cap succeeds and says so", async () => {
    const write = writeOf(await store.addEntry("MEMORY.md", "x".repeat(2048)));
    expect(write).toMatchObject({
      isOverSoftCap: true,
      isOverHardCap: false,
      afterSizeBytes: 2049,
    });
    expect((await store.peek("MEMORY.md")).sizeBytes).toBe(2049);
  });

  test("S-15 hard rejected and unchanged", async () => {
    await store.addEntry("USER.md", "x".repeat(3000));
    const before = onDisk("USER.md");
    expect(await store.addEntry("USER.md", "y".repeat(100))).toEqual({
      kind: "refused",
      file: "USER.md",
      refusal: { kind: "over-hard-cap", attemptedBytes: 3102, hardBytes: 3072 },
    });
    expect(onDisk("USER.md")).toBe(before);
  });

  test("S-15 hash chaining: before of the next write is after of the last", async () => {
    const first = writeOf(await store.addEntry("MEMORY.md", "one"));
    const second = writeOf(await store.replace("MEMORY.md", "one", "two"));
    const third = await confirmed("three\n");
    expect(first.beforeHash).toBe(hashContent(""));
    expect(second.beforeHash).toBe(first.afterHash);
    expect(third.beforeHash).toBe(second.afterHash);
    expect(third.afterHash).toBe(hashContent(onDisk()));
  });

  test("S-15 consolidate to empty", async () => {
    await store.addEntry("MEMORY.md", "x");
    expect(await confirmed("")).toMatchObject({ beforeSizeBytes: 2, afterSizeBytes: 0 });
    expect(onDisk()).toBe("");
    expect((await store.peek("MEMORY.md")).isThere).toBe(true);
  });

  test("S-15 omit empty sections, and both sections, read fresh (S-12)", async () => {
    const shown = async (): Promise<readonly string[]> =>
      (await openMemorySession(store)).sections.map(({ text }) => text);
    expect(await shown()).toEqual([]);
    await store.addEntry("MEMORY.md", "Uses npm.");
    edit("Ada\n", "USER.md");
    expect(await shown()).toEqual([
      "## User context (USER.md)\n\nAda",
      "## Workspace memory (MEMORY.md)\n\nUses npm.",
    ]);
  });

  test("S-15 property: adding never shrinks, consolidating twice gives the same hash, the chain holds", async () => {
    const operations = fc.array(
      fc.record({
        kind: fc.constantFrom("add", "add", "consolidate"),
        text: fc.string({ maxLength: 60 }),
      }),
      { minLength: 1, maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(operations, async (all) => {
        rmSync(join(workspace, ".strata"), { recursive: true, force: true });
        let last = hashContent("");
        for (const { kind, text } of all) {
          const outcome = kind === "add" ? await store.addEntry("MEMORY.md", text) : null;
          if (outcome?.kind === "refused") continue;
          const write = outcome === null ? await confirmed(text) : outcome.write;
          expect(write.beforeHash).toBe(last);
          last = write.afterHash;
          const holds =
            kind === "add"
              ? write.afterSizeBytes >= write.beforeSizeBytes
              : (await confirmed(text)).afterHash === last;
          expect(holds).toBe(true);
        }
        expect((await store.peek("MEMORY.md")).hash).toBe(last);
      }),
      { numRuns: 15 },
    );
  });

  test("S-04: an unknown file is an error, whatever is asked", async () => {
    await expect(store.read("NOTES.md")).rejects.toThrow("is not a memory file");
    expect(() => store.addEntry("../MEMORY.md", "x")).toThrow("is not a memory file");
    expect(readdirSync(workspace)).toEqual([]);
  });
});

describe("another process writes, too", () => {
  test("CF-D external edit preserved: an entry is added to what is there now", async () => {
    await store.read("MEMORY.md");
    edit("by hand\n");
    const write = writeOf(await store.addEntry("MEMORY.md", "by agent"));
    expect(onDisk()).toBe("by hand\nby agent\n");
    expect(write).toMatchObject({ isMerged: true, beforeHash: hashContent("by hand\n") });
  });

  test("CF-D external edit preserved: a text is replaced where it still occurs once, else refused", async () => {
    edit("port 80\n");
    await store.read("MEMORY.md");
    edit("port 80\nhost a\n");
    expect(writeOf(await store.replace("MEMORY.md", "80", "81")).isMerged).toBe(true);
    expect(onDisk()).toBe("port 81\nhost a\n");
    edit("port 81 or 81\n");
    expect(await store.replace("MEMORY.md", "81", "82")).toMatchObject({
      refusal: { kind: "old-count", count: 2 },
    });
    expect(onDisk()).toBe("port 81 or 81\n");
  });

  test("CF-D external edit preserved: also one that is saved while a write holds the lock", async () => {
    edit("one\n");
    let looks = 0;
    const racing = await openMemoryStore(workspace, {
      // Called for the second time after the text was read and decided on.
      now: () => {
        if ((looks += 1) === 2) edit("one\nsaved in an editor\n");
        return 0;
      },
    });
    const { hash } = await racing.read("MEMORY.md");
    const write = writeOf(await racing.addEntry("MEMORY.md", "two"));
    expect(onDisk()).toBe("one\nsaved in an editor\ntwo\n");
    expect(write.isMerged).toBe(true);
    expect((await racing.log()).entries.map(({ before }) => before)).toEqual([
      "one\nsaved in an editor\n",
    ]);
    looks = 0;
    const outcome = await racing.consolidate("MEMORY.md", "short\n", { seenHash: hash });
    expect(outcome).toMatchObject({ refusal: { kind: "changed-meanwhile" } });
  });

  test("CF-D CAS conflict: a consolidation of what was not seen is refused with the hash, then works", async () => {
    edit("one\ntwo\n");
    await store.read("MEMORY.md");
    edit("one\ntwo\nthree\n");
    const outcome = await store.consolidate("MEMORY.md", "one, two\n");
    expect(outcome).toEqual({
      kind: "refused",
      file: "MEMORY.md",
      refusal: {
        kind: "changed-meanwhile",
        currentHash: hashContent("one\ntwo\nthree\n"),
        currentText: "one\ntwo\nthree\n",
      },
    });
    expect(onDisk()).toBe("one\ntwo\nthree\n");
    await store.read("MEMORY.md");
    writeOf(await store.consolidate("MEMORY.md", "one, two, three\n"));
    expect(onDisk()).toBe("one, two, three\n");
  });

  test("a store that has not read the file may not rewrite it; one that wrote it may", async () => {
    edit("there before\n");
    expect(await store.consolidate("MEMORY.md", "mine, all mine\n")).toMatchObject({
      refusal: { kind: "changed-meanwhile" },
    });
    writeOf(await store.addEntry("USER.md", "likes tea"));
    writeOf(await store.consolidate("USER.md", "tea, tea\n"));
    expect(onDisk("USER.md")).toBe("tea, tea\n");
  });

  test("having added to what was not seen is not having seen it", async () => {
    edit("not seen\n");
    writeOf(await store.addEntry("MEMORY.md", "added"));
    expect(await store.consolidate("MEMORY.md", "added and more\n")).toMatchObject({
      refusal: { kind: "changed-meanwhile" },
    });
  });

  test("CF-D concurrent writers: stores of one process lose nothing, and the chain is unbroken", async () => {
    const stores = await Promise.all([1, 2, 3].map(() => openMemoryStore(workspace)));
    const writes = await Promise.all(
      stores.flatMap((each, writer) =>
        [1, 2, 3, 4, 5].map(async (number) =>
          writeOf(await each.addEntry("MEMORY.md", `writer ${writer}, entry ${number}`)),
        ),
      ),
    );
    const lines = onDisk().trimEnd().split("\n");
    expect(new Set(lines).size).toBe(15);
    const next = new Map(writes.map((write) => [write.beforeHash, write.afterHash]));
    expect(next.size).toBe(15);
    let hash = hashContent("");
    for (let step = 0; step < 15; step += 1) hash = next.get(hash) ?? "broken";
    expect(hash).toBe(hashContent(onDisk()));
  });

  test("what is not text, or far too long, is left alone", async () => {
    mkdirSync(join(workspace, ".strata"));
    writeFileSync(join(workspace, ".strata", "MEMORY.md"), Buffer.from([0x61, 0xff, 0x0a]));
    await expect(store.addEntry("MEMORY.md", "x")).rejects.toThrow("is not UTF-8 text");
    writeFileSync(join(workspace, ".strata", "USER.md"), Buffer.alloc(2_000_000, "x"));
    await expect(store.read("USER.md")).rejects.toThrow("2000000 bytes");
    expect(statSync(join(workspace, ".strata", "MEMORY.md")).size).toBe(3);
  });

  test("a byte order mark and other line ends stay as they are", async () => {
    edit("\ufeffone\r\n");
    await store.addEntry("MEMORY.md", "two");
    expect(onDisk()).toBe("\ufeffone\r\ntwo\n");
  });

  test("a file keeps its mode, and a new one is for its user alone", async () => {
    await store.addEntry("USER.md", "x");
    edit("x\n");
    await store.addEntry("MEMORY.md", "y");
    expect(modeOf("USER.md")).toBe(0o600);
    expect(modeOf("MEMORY.md")).toBe(0o666 & ~process.umask());
  });
});

describe("where memory is (S-01)", () => {
  test("in .metis where only that is there, and then nowhere else", async () => {
    edit("old\n", "MEMORY.md", ".metis");
    expect((await store.read("MEMORY.md")).text).toBe("old\n");
    const outcome = await store.addEntry("MEMORY.md", "new");
    expect(outcome).toMatchObject({ path: ".metis/MEMORY.md" });
    await store.addEntry("USER.md", "user");
    expect(onDisk("MEMORY.md", ".metis")).toBe("old\nnew\n");
    expect(readdirSync(workspace)).toEqual([".metis"]);
  });

  test("an empty .metis counts, and a .strata for other things hides nothing", async () => {
    mkdirSync(join(workspace, ".metis"));
    expect((await store.place()).folder).toBe(".metis");
    mkdirSync(join(workspace, ".strata", "skills"), { recursive: true });
    expect((await store.place()).folder).toBe(".strata");
    edit("kept\n", "USER.md", ".metis");
    expect(await store.place()).toEqual({ folder: ".metis", ignored: [] });
    expect((await store.read("USER.md")).text).toBe("kept\n");
  });

  test("in .strata where both hold some, and what is not read is named", async () => {
    edit("ours\n");
    edit("theirs\n", "MEMORY.md", ".metis");
    expect(await store.place()).toEqual({ folder: ".strata", ignored: [".metis/MEMORY.md"] });
    await store.addEntry("MEMORY.md", "more");
    expect(onDisk()).toBe("ours\nmore\n");
    expect(onDisk("MEMORY.md", ".metis")).toBe("theirs\n");
  });

  test("never through a symlink, for the file, its folder or its journal", async () => {
    const outside = mkdtempSync(join(tmpdir(), "strata-outside-"));
    writeFileSync(join(outside, "MEMORY.md"), "secret\n");
    try {
      symlinkSync(outside, join(workspace, ".strata"));
      await expect(store.read("MEMORY.md")).rejects.toThrow("symbolic link");
      await expect(store.addEntry("MEMORY.md", "x")).rejects.toThrow("symbolic link");
      rmSync(join(workspace, ".strata"));
      mkdirSync(join(workspace, ".strata"));
      symlinkSync(join(outside, "MEMORY.md"), join(workspace, ".strata", "MEMORY.md"));
      await expect(store.read("MEMORY.md")).rejects.toThrow("symbolic link");
      await expect(store.addEntry("MEMORY.md", "x")).rejects.toThrow("symbolic link");
      rmSync(join(workspace, ".strata", "MEMORY.md"));
      symlinkSync(outside, join(workspace, ".strata", "memory-journal"));
      await expect(store.addEntry("MEMORY.md", "x")).rejects.toThrow("symbolic link");
      expect(readdirSync(outside)).toEqual(["MEMORY.md"]);
      expect(readFileSync(join(outside, "MEMORY.md"), "utf8")).toBe("secret\n");
    } finally {
      rmSync(outside, { recursive: true, force: true });
    }
  });

  test("a workspace that is not there, or is a file, is refused", async () => {
    await expect(openMemoryStore(join(workspace, "none"))).rejects.toThrow("there is no");
    writeFileSync(join(workspace, "file"), "");
    await expect(openMemoryStore(join(workspace, "file"))).rejects.toThrow("is a file");
    writeFileSync(join(workspace, ".strata"), "");
    await expect(store.addEntry("MEMORY.md", "x")).rejects.toThrow('".strata" is a file');
    await expect(store.read("MEMORY.md")).rejects.toThrow('".strata" is a file');
  });
});

describe("several concurrent writes", () => {
  test("an entry that is added meanwhile is not lost to a consolidation that began before", async () => {
    edit("old one\nold two\n");
    await store.read("MEMORY.md");
    const [added, consolidated] = await Promise.all([
      store.addEntry("MEMORY.md", "brand new"),
      store.consolidate("MEMORY.md", "old one and two\n"),
    ]);
    expect(writeOf(added).isMerged).toBe(false);
    expect(consolidated).toMatchObject({ refusal: { kind: "changed-meanwhile" } });
    expect(onDisk()).toBe("old one\nold two\nbrand new\n");
  });

  test("a session's own entries do not count as another's", async () => {
    await store.read("MEMORY.md");
    const both = await Promise.all(["a", "b"].map((entry) => store.addEntry("MEMORY.md", entry)));
    expect(both.map((outcome) => writeOf(outcome).isMerged)).toEqual([false, false]);
    writeOf(await store.consolidate("MEMORY.md", "a and b\n"));
  });
});

test("the first write of a file names the one at the root that it hides, and leaves it as it is", async () => {
  writeFileSync(join(workspace, "MEMORY.md"), "root memory\n");
  const first = await store.addEntry("MEMORY.md", "one");
  expect(first).toMatchObject({
    notes: [
      "The MEMORY.md at the root of the workspace stays as it is, but is not shown to later sessions any more: add what still matters of it here.",
    ],
  });
  expect(await store.addEntry("MEMORY.md", "two")).toMatchObject({ notes: [] });
  expect(await store.addEntry("USER.md", "Ada")).toMatchObject({ notes: [] });
  expect(readFileSync(join(workspace, "MEMORY.md"), "utf8")).toBe("root memory\n");
});
