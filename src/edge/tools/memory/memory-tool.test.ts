import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isMemoryTool, memoryToolDefinition } from "../../../core/memory/memory-tool.ts";
import { ToolError, type Tool } from "../../../core/tools/tool.ts";
import { openMemoryStore, type MemoryStore } from "../../files/memory/memory-store.ts";
import { memoryTool } from "./memory-tool.ts";

let workspace = "";
let store: MemoryStore;
let tool: Tool;
let reply = 0;

beforeEach(async () => {
  workspace = mkdtempSync(join(tmpdir(), "strata-memory-tool-"));
  store = await openMemoryStore(workspace);
  tool = memoryTool(store);
  reply = 0;
});
afterEach(() => rmSync(workspace, { recursive: true, force: true }));

const memory = "/memories/MEMORY.md";
const user = "/memories/USER.md";

function edit(text: string, file = "MEMORY.md"): void {
  mkdirSync(join(workspace, ".strata"), { recursive: true });
  writeFileSync(join(workspace, ".strata", file), text);
}

function onDisk(file = "MEMORY.md"): string {
  return readFileSync(join(workspace, ".strata", file), "utf8");
}

/** Each use is in a reply of its own, unless it says otherwise. */
async function run(input: Record<string, unknown>, replyNumber = (reply += 1)): Promise<string> {
  const { signal } = new AbortController();
  const call = { sessionId: "s", turnId: "t", toolUseId: "u", role: "unified", signal } as const;
  const { text } = await tool.run(input, { ...call, replyNumber });
  return text;
}

async function fail(input: Record<string, unknown>, replyNumber?: number): Promise<ToolError> {
  const error = await run(input, replyNumber).catch((thrown: unknown) => thrown);
  if (!(error instanceof ToolError)) throw new Error(`no ToolError: ${String(error)}`);
  return error;
}

test("the folder shows both files with their sizes, and a file its lines with numbers", async () => {
  edit("Uses npm.\nThe port is 4177.\n");
  expect(await run({ command: "view", path: "/memories" })).toBe(
    "/memories/MEMORY.md: 28 bytes, at most 4096\n/memories/USER.md: empty, at most 3072",
  );
  expect(await run({ command: "view", path: memory })).toBe(
    "/memories/MEMORY.md, with the numbers of its lines:\n     1\tUses npm.\n     2\tThe port is 4177.",
  );
  expect(await run({ command: "view", path: memory, view_range: [2, -1] })).toContain(
    ":\n     2\tThe port is 4177.",
  );
  for (const view_range of [[0, 1], [3, 4], [2, 1], [1], ["1", 2], [1, 2, 3]]) {
    const { message } = await fail({ command: "view", path: memory, view_range });
    expect(message).toBe(
      "`view_range` must be [first, last] within the lines 1 to 2; -1 is the last line",
    );
  }
});

test("a file is created, changed, extended and emptied, and each change can be undone", async () => {
  expect(await run({ command: "create", path: memory, file_text: "Uses npm.\n" })).toBe(
    "/memories/MEMORY.md has 10 bytes now.",
  );
  await run({ command: "str_replace", path: memory, old_str: "npm", new_str: "pnpm" });
  await run({ command: "insert", path: memory, insert_line: 0, insert_text: "Node 24.\n" });
  await run({ command: "insert", path: memory, insert_line: 2, insert_text: "Port 4177." });
  expect(onDisk()).toBe("Node 24.\nUses pnpm.\nPort 4177.\n");
  await run({ command: "str_replace", path: memory, old_str: "Node 24.\n" });
  expect(await run({ command: "delete", path: memory })).toBe("/memories/MEMORY.md is empty now.");
  expect(onDisk()).toBe("");
  const texts = [];
  for (let at = 0; at < 6; at += 1) {
    await store.undo("MEMORY.md");
    texts.push((await store.peek("MEMORY.md")).text);
  }
  expect(texts).toEqual([
    "Uses pnpm.\nPort 4177.\n",
    "Node 24.\nUses pnpm.\nPort 4177.\n",
    "Node 24.\nUses pnpm.\n",
    "Uses pnpm.\n",
    "Uses npm.\n",
    "",
  ]);
});

test("a text is moved to the other file, which must be empty and large enough", async () => {
  edit("Likes tea.\n");
  await run({ command: "rename", old_path: memory, new_path: user });
  expect([onDisk(), onDisk("USER.md")]).toEqual(["", "Likes tea.\n"]);
  edit("x".repeat(4000));
  const taken = await fail({ command: "rename", old_path: memory, new_path: user });
  expect(taken.message).toContain("It holds now:\n\nLikes tea.\n");
  edit("", "USER.md");
  const { message } = await fail({ command: "rename", old_path: memory, new_path: user });
  expect(message).toContain("USER.md would have 4000 bytes, and its hard cap is 3072");
  expect([onDisk().length, onDisk("USER.md")]).toEqual([4000, ""]);
});

test("caps hold: above the soft one it says so, above the hard one nothing is written", async () => {
  const said = await run({ command: "create", path: user, file_text: "x".repeat(1600) });
  expect(said).toContain("That is over 1536, and at most 3072 are taken: shorten it.");
  const more = { command: "insert", path: user, insert_line: 1, insert_text: "y".repeat(1600) };
  expect((await fail(more)).message).toContain("its hard cap is 3072");
  expect(onDisk("USER.md")).toBe("x".repeat(1600));
});

test("what others wrote meanwhile is never overwritten: the refusal shows it, and then counts as seen", async () => {
  edit("One.\n");
  await run({ command: "view", path: memory });
  edit("Zero.\nOne.\n");
  const insert = { command: "insert", path: memory, insert_line: 1, insert_text: "Two." };
  for (const input of [insert, { command: "create", path: memory, file_text: "Mine." }]) {
    edit(`${onDisk()}More.\n`);
    expect((await fail(input)).message).toContain(`It holds now:\n\n${onDisk()}`);
  }
  await run({ ...insert, insert_line: 4 });
  expect(onDisk()).toBe("Zero.\nOne.\nMore.\nMore.\nTwo.\n");
  edit("Others.\n");
  expect((await fail({ command: "delete", path: memory })).errorClass).toBe("execution_error");
  expect(onDisk()).toBe("Others.\n");
});

test("a second line-numbered change in one reply is refused: it counted lines before the first", async () => {
  edit("One.\nTwo.\n");
  await run({ command: "view", path: memory });
  const insert = { command: "insert", path: memory, insert_line: 1, insert_text: "New." };
  await run(insert, 7);
  expect((await fail({ ...insert, insert_line: 2 }, 7)).message).toContain("It holds now:");
  expect(onDisk()).toBe("One.\nNew.\nTwo.\n");
});

test("every other path is refused, and nothing is written for it", async () => {
  const paths = [
    "/memories/notes.md",
    "/memories/../MEMORY.md",
    "/memories/%2e%2e/x",
    "MEMORY.md",
    "/etc/passwd",
    "/memories/MEMORY.md/",
    "",
  ];
  for (const path of paths) {
    const others = { file_text: "x", old_str: "a", insert_line: 0, insert_text: "x" };
    for (const command of ["view", "create", "str_replace", "insert", "delete"]) {
      const { errorClass, message } = await fail({ command, path, ...others });
      expect([errorClass, message]).toEqual([
        "not_found",
        expect.stringContaining(`"${path}" is no place for memory: it has two files`),
      ]);
    }
    await fail({ command: "rename", old_path: path, new_path: user });
  }
  for (const command of ["delete", "create"]) {
    await fail({ command, path: "/memories", file_text: "x" });
  }
  expect((await store.log()).entries).toEqual([]);
});

test("in a shared session MEMORY.md is neither listed nor touched", async () => {
  edit("Secret.\n");
  tool = memoryTool(store, { scope: "shared" });
  expect(await run({ command: "view", path: "/memories" })).not.toContain("MEMORY.md");
  expect((await fail({ command: "view", path: memory })).errorClass).toBe("permission_denied");
  expect((await fail({ command: "rename", old_path: memory, new_path: user })).errorClass).toBe(
    "permission_denied",
  );
  tool = memoryTool(null);
  expect((await fail({ command: "view", path: memory })).message).toContain("has no memory");
});

test("only the very same tool is sent by its name: one of an application with that name is not", () => {
  expect(isMemoryTool(memoryToolDefinition)).toBe(true);
  expect(isMemoryTool({ ...memoryToolDefinition, description: "Mine." })).toBe(false);
  expect(isMemoryTool({ ...memoryToolDefinition, inputSchemaJson: "{}" })).toBe(false);
});
