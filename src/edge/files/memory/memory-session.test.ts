import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openMemorySession } from "./memory-session.ts";
import { openMemoryStore, type MemoryStore } from "./memory-store.ts";

let workspace = "";
let store: MemoryStore;

beforeEach(async () => {
  workspace = mkdtempSync(join(tmpdir(), "strata-memory-"));
  mkdirSync(join(workspace, ".strata"));
  edit("Uses npm.\n");
  edit("Ada\n", "USER.md");
  store = await openMemoryStore(workspace);
});
afterEach(() => rmSync(workspace, { recursive: true, force: true }));

function edit(text: string, file = "MEMORY.md"): void {
  writeFileSync(join(workspace, ".strata", file), text);
}

describe("CF-D snapshot", () => {
  test("stays for the session, and S-12: a write is shown to the very next call", async () => {
    const session = await openMemorySession(store);
    const before = session.sections;
    expect(before.map(({ text }) => text)).toEqual([
      "## User context (USER.md)\n\nAda",
      "## Workspace memory (MEMORY.md)\n\nUses npm.",
    ]);
    expect(await session.forNextCall()).toEqual([]);
    await store.addEntry("MEMORY.md", "Node 24.");
    const [delta] = await session.forNextCall();
    expect(delta?.text).toContain("+ Node 24.");
    expect(session.sections).toBe(before);
  });

  test("is taken over by another process, and taken anew where the cache is lost anyway", async () => {
    const { snapshot } = await openMemorySession(store);
    await store.addEntry("USER.md", "tea");
    const resumed = await openMemorySession(store, { snapshot });
    expect(resumed.sections[0]?.text).toBe("## User context (USER.md)\n\nAda");
    expect((await resumed.forNextCall())[0]?.text).toContain("+ tea");
    const fresh = await openMemorySession(store);
    expect(fresh.sections[0]?.text).toBe("## User context (USER.md)\n\nAda\ntea");
    expect(await fresh.forNextCall()).toEqual([]);
  });

  test("what the model was shown it may consolidate; what came after, or was cut off, it may not", async () => {
    const session = await openMemorySession(store);
    edit("Uses npm.\nBy hand.\n");
    const all = "Uses npm. By hand.\n";
    expect(await store.consolidate("MEMORY.md", all)).toMatchObject({ kind: "refused" });
    await session.forNextCall();
    expect(await store.consolidate("MEMORY.md", all)).toMatchObject({ kind: "written" });
    edit(Array.from({ length: 80 }, (_, line) => `line ${line}`).join("\n"));
    await session.forNextCall();
    expect(await store.consolidate("MEMORY.md", "80 lines\n")).toMatchObject({
      refusal: { kind: "changed-meanwhile" },
    });
  });
});

test("live-tail and live-system show the texts of now on every call", async () => {
  const tail = await openMemorySession(store, { mode: "live-tail" });
  const layout = { volatile: "system-tail" } as const;
  const system = await openMemorySession(store, { mode: "live-system", layout });
  await store.addEntry("MEMORY.md", "Node 24.");
  const texts = [
    "## User context (USER.md)\n\nAda",
    "## Workspace memory (MEMORY.md)\n\nUses npm.\nNode 24.",
  ];
  for (const session of [tail, system]) {
    expect(session.sections).toEqual([]);
    expect((await session.forNextCall()).map(({ text }) => text)).toEqual(texts);
  }
});

test("CF-D shared-scope exclusion: MEMORY.md is neither in the snapshot nor in what changed (C-16)", async () => {
  const session = await openMemorySession(store, { scope: "shared" });
  expect(JSON.stringify(session.sections)).not.toContain("npm");
  edit("Secret.\n");
  edit("Ada L.\n", "USER.md");
  const shown = JSON.stringify(await session.forNextCall());
  expect(shown).toContain("Ada L.");
  expect(shown).not.toContain("Secret");
});

test("S-16: a global USER.md comes first where one is asked for; none need be there, and no link is followed", async () => {
  const home = mkdtempSync(join(tmpdir(), "strata-home-"));
  try {
    const userOf = async (): Promise<string | undefined> =>
      (await openMemorySession(store, { globalFolder: home })).sections[0]?.text;
    expect(await userOf()).toBe("## User context (USER.md)\n\nAda");
    writeFileSync(join(home, "USER.md"), "Everywhere.\n");
    expect(await userOf()).toBe(
      "## User context of all workspaces (global USER.md)\n\nEverywhere.",
    );
    const both = await openMemorySession(store, { globalFolder: home });
    expect(both.sections[1]?.text).toBe("## User context (USER.md)\n\nAda");
    writeFileSync(join(home, "USER.md"), "Everywhere, always.\n");
    expect((await both.forNextCall())[0]?.text).toContain("+ Everywhere, always.");
    writeFileSync(join(home, "USER.md"), Buffer.from("caf\u00e9\n", "latin1"));
    await expect(userOf()).rejects.toThrow(`USER.md in ${home} is not UTF-8 text`);
    writeFileSync(join(home, "USER.md"), Buffer.alloc(2_000_000, "a"));
    await expect(userOf()).rejects.toThrow("2000000 bytes");
    rmSync(join(home, "USER.md"));
    symlinkSync(join(workspace, ".strata", "MEMORY.md"), join(home, "USER.md"));
    await expect(userOf()).rejects.toThrow("symbolic link");
    const none = { globalFolder: join(home, "none") };
    expect((await openMemorySession(store, none)).sections).toHaveLength(2);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

test("live-system is refused with a layout that puts volatile text elsewhere, or with none", async () => {
  const layout = { volatile: "message-tail" } as const;
  for (const options of [{}, { layout }]) {
    await expect(openMemorySession(store, { mode: "live-system", ...options })).rejects.toThrow(
      "needs a layout with volatile text at system-tail",
    );
  }
});

describe("what the model was not shown whole it may not consolidate", () => {
  test("a file above its hard cap: as much as the cap is shown, and what is left out is reported", async () => {
    edit("fact\n".repeat(2000));
    const session = await openMemorySession(store);
    const shown = session.sections[1]?.text ?? "";
    expect(shown.length).toBeLessThan(4200);
    expect(shown).toContain("of 10000 bytes of MEMORY.md are left out here");
    expect(session.snapshot.workspace.length).toBeLessThanOrEqual(4096);
    await session.forNextCall();
    expect(await store.consolidate("MEMORY.md", "2000 facts\n".repeat(300))).toMatchObject({
      refusal: { kind: "changed-meanwhile" },
    });
    // The other file was shown whole.
    expect(await store.consolidate("USER.md", "Ada L.\n")).toMatchObject({ kind: "written" });
  });

  test("lines in another order are shown as they stand now", async () => {
    edit("one\ntwo\n");
    const session = await openMemorySession(store);
    edit("two\none\n");
    expect((await session.forNextCall())[0]?.text).toContain(
      "the same lines in another order. It says now:\ntwo\none",
    );
    expect(await store.consolidate("MEMORY.md", "two, one\n")).toMatchObject({ kind: "written" });
  });
});
