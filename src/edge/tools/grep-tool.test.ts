import { symlinkSync, writeFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDispatcher, type Dispatcher } from "./dispatcher.ts";
import { grepTool } from "./grep-tool.ts";
import { context, makeWorkspace, runOne, type TestWorkspace } from "./test-kit.ts";

let workspace: TestWorkspace;
let dispatcher: Dispatcher;

beforeEach(async () => {
  workspace = await makeWorkspace();
  const tools = [grepTool(workspace.files, { timeoutMs: 3000, fileBytesMax: 10_000 })];
  dispatcher = createDispatcher({ tools, workspace: workspace.files });
  put("a.txt", "one\ntwo\r\nthree (3)\n");
  put("src/b.ts", "const One = 1;\n\n// two\n");
});

afterEach(() => workspace.remove());

function put(path: string, content: string | Uint8Array): void {
  mkdirSync(join(workspace.root, path, ".."), { recursive: true });
  writeFileSync(join(workspace.root, path), content);
}

function grep(input: Record<string, unknown>): Promise<string> {
  return runOne(dispatcher, "grep", input);
}

test("lines are found with their file and number", async () => {
  expect(await grep({ pattern: "^two$|\\bOne" })).toBe("a.txt:2:two\nsrc/b.ts:1:const One = 1;");
  expect(await grep({ pattern: "one", ignore_case: true, glob: "*.ts" })).toBe(
    "src/b.ts:1:const One = 1;",
  );
  expect(await grep({ pattern: "two", path: "src" })).toBe("src/b.ts:3:// two");
  expect(await grep({ pattern: "two", path: "a.txt" })).toBe("a.txt:2:two");
  expect(await grep({ pattern: "four" })).toBe("No line matches in 2 files.");
  expect(await grep({ pattern: "x", path: "nothing" })).toBe(
    "error: not_found: there is no nothing",
  );
});

test("plain text is taken as it is", async () => {
  put("odd.txt", "a-b [x] $1 {2}\\ /\n");
  expect(await grep({ pattern: "(3)", literal: true })).toBe("a.txt:3:three (3)");
  expect(await grep({ pattern: "a-b [x] $1 {2}\\ /", literal: true })).toContain("odd.txt:1:");
});

test("a pattern that is none is told of, an escape too many is not", async () => {
  expect(await grep({ pattern: "(" })).toBe(
    "error: validation_error: the pattern is no regular expression: Invalid regular expression: /(/: Unterminated group",
  );
  expect(await grep({ pattern: "t\\h\\-?ree" })).toBe("a.txt:3:three (3)");
  expect(await grep({ pattern: "\\p{Lu}ne" })).toBe("src/b.ts:1:const One = 1;");
});

test("a pattern that would take years ends in time, and the next one is answered", async () => {
  put("evil.txt", `${"a".repeat(40)}!\n`);
  const slow = createDispatcher({
    tools: [grepTool(workspace.files, { timeoutMs: 300 })],
    workspace: workspace.files,
  });
  expect(await runOne(slow, "grep", { pattern: "^(a+)+$" })).toBe(
    "error: timeout: the search took too long: use a simpler pattern, or search fewer files",
  );
  expect(await runOne(slow, "grep", { pattern: "three", path: "a.txt" })).toBe("a.txt:3:three (3)");
});

test("a search is cancelled while it runs", async () => {
  put("evil.txt", `${"a".repeat(40)}!\n`);
  const signal = AbortSignal.timeout(150);
  const text = await runOne(dispatcher, "grep", { pattern: "^(a+)+$" }, { ...context, signal });
  expect(text).toBe("error: cancelled: the search was cancelled");
});

test("searches at once do not meet", async () => {
  const wanted = Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? "three" : "const"));
  const found = await Promise.all(wanted.map((pattern) => grep({ pattern })));
  expect(found).toEqual(
    wanted.map((word) => (word === "three" ? "a.txt:3:three (3)" : "src/b.ts:1:const One = 1;")),
  );
});

test("more than the limit, long lines, binary and large files and links are all said", async () => {
  put("many.txt", "hit\n".repeat(10));
  expect(await grep({ pattern: "hit", limit: 3 })).toBe(
    "many.txt:1:hit\nmany.txt:2:hit\nmany.txt:3:hit\n[more than 3 lines match: be more exact]",
  );
  put("wide.txt", `${"x".repeat(3000)}needle${"y".repeat(3000)}\n`);
  const wide = await grep({ pattern: "needle" });
  expect(wide).toContain("xneedley");
  expect(wide.length).toBeLessThan(600);
  put("binary", Buffer.from([110, 101, 0]));
  put("large", "x".repeat(10_001));
  symlinkSync("/etc", join(workspace.root, "link"));
  expect(await grep({ pattern: "nothing like it" })).toBe(
    "No line matches in 5 files.\n[1 files are not text; 1 files are too large; 1 symbolic links not followed]",
  );
});
