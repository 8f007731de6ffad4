import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hashContent } from "../../core/hash.ts";
import { exitStatusOf, StrataError } from "../../core/strata-error.ts";
import { openLedger } from "../../edge/stores/open-ledger.ts";
import { parseInput } from "../command.ts";
import { memoryCommands } from "./memory-commands.ts";
import { showDeclined } from "./memory-outcome.ts";
import type { StrataEvent as StoredEvent } from "../../core/events/event.ts";
import type { Ran } from "../test-kit.ts";

let workspace = "";

beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), "strata-memory-"));
  env = { STRATA_STORE: join(workspace, "ledger.db") };
});
afterEach(() => rmSync(workspace, { recursive: true, force: true }));

/** More variables for the program. */
let env: Record<string, string> = {};

/** One command, as the program runs it. */
async function memory(name: string, ...words: readonly string[]): Promise<Ran> {
  const command = memoryCommands.find((each) => each.name === `memory ${name}`);
  if (command === undefined) throw new Error(`no command ${name}`);
  let [out, error] = ["", ""];
  try {
    const input = parseInput(command, [...words, "--workspace", workspace]);
    const { run } = await command.load();
    const io = {
      out: (text: string) => void (out += text),
      error: (text: string) => void (error += text),
      env,
    };
    return { status: await run(input, io), out, error };
  } catch (thrown) {
    if (!(thrown instanceof StrataError)) throw thrown;
    return { status: exitStatusOf[thrown.code], out, error: `${thrown.message}\n${thrown.hint}` };
  }
}

function onDisk(file = "MEMORY.md"): string {
  return readFileSync(join(workspace, ".strata", file), "utf8");
}

function edit(text: string, folder = ".strata"): void {
  mkdirSync(join(workspace, folder), { recursive: true });
  writeFileSync(join(workspace, folder, "MEMORY.md"), text);
}

describe("writing", () => {
  test("add, replace and consolidate say what became of the file", async () => {
    expect(await memory("add", "MEMORY.md", "Uses npm.")).toEqual({
      status: 0,
      out: "Added to MEMORY.md; it has 10 bytes now.\n",
      error: "",
    });
    await memory("replace", "MEMORY.md", "npm", "pnpm");
    expect(onDisk()).toBe("Uses pnpm.\n");
    const { out } = await memory("consolidate", "MEMORY.md", "pnpm, Node 24\n", "--json");
    expect(JSON.parse(out)).toMatchObject({
      outcome: "written",
      path: ".strata/MEMORY.md",
      operation: "consolidate",
      after_hash: hashContent("pnpm, Node 24\n"),
    });
  });

  test("over the soft cap it names the command that helps", async () => {
    const { out } = await memory("add", "MEMORY.md", "x".repeat(2100));
    expect(out).toContain("over soft cap; consider strata memory consolidate");
  });

  test.each([
    [["add", "MEMORY.md", " "], 6, "the entry is blank"],
    [["add", "MEMORY.md", "there"], 6, "says this already, in line 1"],
    [["add", "MEMORY.md", "x".repeat(5000)], 6, "its hard cap is 4096"],
    [["replace", "MEMORY.md", "e", "x"], 6, "occurs 2 times"],
    [["consolidate", "MEMORY.md", "longer than it was", "--if-hash", "00"], 9, "changed elsewhere"],
    [["consolidate", "MEMORY.md", ""], 2, "more than half of it gone"],
    [["add", "NOTES.md", "x"], 6, '"NOTES.md" is not a memory file'],
  ] as const)("%j ends with %i: %s", async ([name, ...words], status, message) => {
    edit("there\n");
    const ran = await memory(name, ...words);
    expect(ran.error).toContain(message);
    expect(ran.status).toBe(status);
    expect(onDisk()).toBe("there\n");
  });

  test("an entry that begins with a hyphen is taken after --, and the error says so", async () => {
    const refused = await memory("add", "USER.md", "- likes tea");
    expect(refused.status).toBe(2);
    expect(refused.error).toContain("put -- before words that begin with a hyphen");
    const command = memoryCommands.find(({ name }) => name === "memory add");
    if (command === undefined) throw new Error("no command");
    const input = parseInput(command, ["--workspace", workspace, "--", "USER.md", "- likes tea"]);
    const { run } = await command.load();
    await run(input, { out: () => {}, error: () => {}, env: {} });
    expect(onDisk("USER.md")).toBe("- likes tea\n");
  });

  test("what a write hides is said beside its result, and is in the JSON", async () => {
    writeFileSync(join(workspace, "MEMORY.md"), "root\n");
    const { out, error } = await memory("add", "MEMORY.md", "one");
    expect(out).toBe("Added to MEMORY.md; it has 4 bytes now.\n");
    expect(error).toContain("The MEMORY.md at the root of the workspace stays as it is");
    expect(JSON.parse((await memory("add", "MEMORY.md", "two", "--json")).out)).toMatchObject({
      notes: [],
    });
  });

  test("an error of the store does not claim that nothing was changed", async () => {
    mkdirSync(join(workspace, ".strata", "MEMORY.md"), { recursive: true });
    const { error } = await memory("add", "MEMORY.md", "x");
    expect(error).not.toContain("nothing was changed");
    expect(error).toContain("strata memory show prints the memory");
  });

  test("a change that was declined is one JSON value, too", () => {
    let [out, error] = ["", ""];
    const io = {
      out: (text: string) => void (out += text),
      error: (text: string) => void (error += text),
      env: {},
    };
    const input = { operands: [], switches: new Set(["json"]), values: new Map<string, string>() };
    expect(showDeclined("MEMORY.md", input, io)).toBe(0);
    expect([out, error]).toEqual([
      '{"outcome":"declined","file":"MEMORY.md"}\n',
      "Nothing was changed.\n",
    ]);
  });

  test("--yes lets more than half go", async () => {
    edit("there\n");
    expect((await memory("consolidate", "MEMORY.md", "", "--yes")).status).toBe(0);
    expect(onDisk()).toBe("");
  });
});

describe("looking", () => {
  test("show tells what is there, how full it is, and what is odd", async () => {
    expect((await memory("show")).out).toBe(
      ".strata/MEMORY.md does not exist yet.\n\n.strata/USER.md does not exist yet.\n",
    );
    edit("a\u001b[2Kb\n");
    edit("old\n", ".metis");
    const { out, error } = await memory("show", "MEMORY.md");
    expect(out).toBe(
      ".strata/MEMORY.md: 7 bytes of 2048 (at most 4096)\nWarning: it has 1 invisible character (U+001B).\n\na␛[2Kb\n",
    );
    expect(error).toBe(
      ".metis/MEMORY.md also exists and is not read; strata memory migrate moves it.\n",
    );
  });

  test("show --json has the hash that --if-hash takes", async () => {
    edit("one\n");
    const shown: unknown = JSON.parse((await memory("show", "--json")).out);
    expect(shown).toMatchObject({
      folder: ".strata",
      files: [
        { file: "MEMORY.md", text: "one\n", hash: hashContent("one\n"), softBytes: 2048 },
        { file: "USER.md", text: "", isThere: false },
      ],
    });
    const hash = hashContent("one\n");
    const { status } = await memory("consolidate", "MEMORY.md", "two\n", "--if-hash", hash);
    expect(status).toBe(0);
  });

  test("log and undo agree on numbers", async () => {
    expect((await memory("log")).out).toBe("No changes are kept.\n");
    await memory("add", "MEMORY.md", "one");
    await memory("add", "USER.md", "Ada");
    await memory("add", "MEMORY.md", "two");
    const lines = (await memory("log", "MEMORY.md")).out.split("\n");
    expect(lines[1]).toMatch(/^ {5}1 {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}MEMORY\.md {2}add +0 +4$/);
    expect(lines[2]).toMatch(/^ {5}3 /);
    expect((await memory("undo", "MEMORY.md")).out).toBe(
      "Undid change 3 (add); .strata/MEMORY.md has 4 bytes now.\n",
    );
    edit("by hand\n");
    const refused = await memory("undo", "MEMORY.md");
    expect([refused.status, refused.error]).toEqual([9, expect.stringContaining("edited by hand")]);
    expect((await memory("undo", "MEMORY.md", "--to", "3")).out).toContain("before change 3");
    expect(onDisk()).toBe("one\n");
    expect((await memory("undo", "MEMORY.md", "--to", "x")).status).toBe(2);
    expect(JSON.parse((await memory("log", "--json")).out)).toMatchObject({
      changes: [
        { number: 1 },
        { number: 2 },
        { number: 3 },
        { number: 4, undoes: 3 },
        { before: "by hand\n" },
      ],
      damaged: [],
    });
  });
});

test("migrate moves memory and names what stays", async () => {
  edit("old\n", ".metis");
  writeFileSync(join(workspace, ".metis", "trace.db"), "");
  expect((await memory("migrate")).out).toBe(
    "Moved MEMORY.md to .strata. Still in .metis: trace.db.\n",
  );
  expect(onDisk()).toBe("old\n");
  expect((await memory("migrate", "--json")).out).toBe('{"moved":[],"left":["trace.db"]}\n');
});

test("a file in place of the folder is reported", async () => {
  writeFileSync(join(workspace, ".strata"), "");
  const { status, error } = await memory("show");
  expect([status, error]).toEqual([6, expect.stringContaining('".strata" is a file')]);
});

test("a workspace that is not there, and a link in it, are errors of two lines", async () => {
  symlinkSync(tmpdir(), join(workspace, ".strata"));
  const linked = await memory("show");
  expect([linked.status, linked.error]).toEqual([6, expect.stringContaining("symbolic link")]);
  rmSync(workspace, { recursive: true });
  const missing = await memory("show");
  expect([missing.status, missing.error]).toEqual([7, expect.stringContaining("does not exist")]);
  mkdirSync(workspace);
});

test("what is configured holds here, too: versions that are kept, and what is known of a user everywhere", async () => {
  env = { STRATA_MEMORY__JOURNAL_VERSIONS_MAX: "2", STRATA_MEMORY__USER_FOLDER: workspace };
  writeFileSync(join(workspace, "USER.md"), "Likes tea.\n");
  for (const entry of ["One.", "Two.", "Three.", "Four."]) await memory("add", "MEMORY.md", entry);
  const { changes } = JSON.parse((await memory("log", "--json")).out) as { changes: unknown[] };
  expect(changes).toHaveLength(2);
  const shown = await memory("show");
  expect(shown.out).toContain(`${workspace}/USER.md, for every workspace:\n\nLikes tea.\n`);
  expect(JSON.parse((await memory("show", "--json")).out)).toMatchObject({
    everywhere: { path: `${workspace}/USER.md`, text: expect.stringContaining("Likes tea.") },
  });
});

test("a write emits its events into a ledger that is there, and makes none where there is none", async () => {
  await memory("add", "MEMORY.md", "Uses npm.");
  const where = join(workspace, "ledger.db");
  expect(existsSync(where)).toBe(false);
  await (await openLedger(where)).close();
  await memory("add", "MEMORY.md", "The port is 4177.");
  await memory("consolidate", "MEMORY.md", "npm, 4177", "--yes");
  const ledger = await openLedger(where);
  const events: StoredEvent[] = [];
  for await (const event of ledger.readEvents({ sessionId: "strata memory" })) events.push(event);
  await ledger.close();
  expect(events.map(({ type }) => type)).toEqual([
    "memory.updated",
    "memory.updated",
    "memory.eviction",
  ]);
  expect(events[0]?.payload).toMatchObject({ file: "MEMORY.md", operation: "add" });
  expect(events[2]?.parentEventId).toBe(events[1]?.id);
});
