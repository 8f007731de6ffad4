import { symlinkSync, writeFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDispatcher, type Dispatcher } from "../dispatch/dispatcher.ts";
import { grepTool } from "./grep-tool.ts";
import { readTool } from "./read-tool.ts";
import { context, makeWorkspace, runOne, type TestWorkspace } from "../test-kit.ts";

let workspace: TestWorkspace;
let dispatcher: Dispatcher;

beforeEach(async () => {
  workspace = await makeWorkspace();
  const tools = [
    grepTool(workspace.files, { timeoutMs: 3000, pieceBytes: 10_000, lineBytesMax: 20_000 }),
  ];
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

test("Strata's own folders, with skills, old memory and old results, are searched only where they are named", async () => {
  put(".strata/skills/pdf/SKILL.md", "two\n");
  put(".strata/outputs/tu_1.txt", "a.txt:2:two\n");
  put(".metis/MEMORY.md", "two\n");
  expect(await grep({ pattern: "two" })).toBe(
    "a.txt:2:two\nsrc/b.ts:3:// two\n[not looked into: .metis, .strata]",
  );
  expect(await grep({ pattern: "two", path: ".strata/outputs" })).toBe(
    ".strata/outputs/tu_1.txt:1:a.txt:2:two",
  );
  expect(await grep({ pattern: "two", glob: ".metis/*" })).toContain(".metis/MEMORY.md:1:two");
});

test("plain text is taken as it is", async () => {
  put("odd.txt", "a-b [x] $1 {2}\\ /\n");
  expect(await grep({ pattern: "(3)", literal: true })).toBe("a.txt:3:three (3)");
  expect(await grep({ pattern: "a-b [x] $1 {2}\\ /", literal: true })).toContain("odd.txt:1:");
});

test("an invalid pattern is reported, an escape too many is not", async () => {
  expect(await grep({ pattern: "(" })).toBe(
    "error: validation_error: the pattern is no regular expression: Invalid regular expression: /(/: Unterminated group",
  );
  expect(await grep({ pattern: "t\\h\\-?ree" })).toBe("a.txt:3:three (3)");
  expect(await grep({ pattern: "\\p{Lu}ne" })).toBe("src/b.ts:1:const One = 1;");
});

test("a pattern that would take years ends in time, and the next one is answered", async () => {
  put("evil.txt", `${"a".repeat(40)}!\n`);
  const slow = createDispatcher({
    tools: [grepTool(workspace.files, { timeoutMs: 600 })],
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

test("concurrent searches do not disturb each other", async () => {
  const wanted = Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? "three" : "const"));
  const found = await Promise.all(wanted.map((pattern) => grep({ pattern })));
  expect(found).toEqual(
    wanted.map((word) => (word === "three" ? "a.txt:3:three (3)" : "src/b.ts:1:const One = 1;")),
  );
});

test("more than the limit, long lines, binary and large files and links are all reported", async () => {
  put("many.txt", "hit\n".repeat(10));
  expect(await grep({ pattern: "hit", limit: 3 })).toBe(
    "many.txt:1:hit\nmany.txt:2:hit\nmany.txt:3:hit\n[more than 3 lines match: be more exact]",
  );
  put("wide.txt", `${"x".repeat(3000)}needle${"y".repeat(3000)}\n`);
  const wide = await grep({ pattern: "needle" });
  expect(wide).toContain("xneedley");
  expect(wide.length).toBeLessThan(600);
  put("binary", Buffer.from([110, 101, 0]));
  put("large", `needle in it\n${"x".repeat(30_001)}`);
  symlinkSync("/etc", join(workspace.root, "link"));
  expect(await grep({ pattern: "nothing like it" })).toBe(
    [
      "[not searched: 1 files with too long a line, from that line on]",
      "No line matches in 4 files.",
      "[1 files are not text; 1 symbolic links not followed]",
    ].join("\n"),
  );
  expect(await grep({ pattern: "needle in" })).toContain("large:1:needle in it");
});

test("a file larger than a piece is searched to its end, with the lines counted on", async () => {
  const lines = Array.from({ length: 9000 }, (_, index) => `${index} ${"é".repeat(index % 40)}`);
  put("big.log", `${lines.join("\r\n")}\nlast needle`);
  expect(await grep({ pattern: "^(4321|8999) |needle", path: "big.log" })).toBe(
    [
      `big.log:4322:4321 ${"é".repeat(4321 % 40)}`,
      `big.log:9000:8999 ${"é".repeat(8999 % 40)}`,
      "big.log:9001:last needle",
    ].join("\n"),
  );
  expect(await grep({ pattern: "^\\d", path: "big.log", limit: 3 })).toContain(
    "big.log:3:2 éé\n[more than 3 lines match: be more exact]",
  );
  put("half.log", Buffer.concat([Buffer.from("needle\n".repeat(2000)), Buffer.from([0])]));
  expect(await grep({ pattern: "needle", path: "half.log", limit: 1000 })).toContain(
    "more than 1000 lines match",
  );
  expect(await grep({ pattern: "nothing", path: "half.log" })).toBe(
    "No line matches in 0 files.\n[1 files are not text]",
  );
});

test("what read is too small for is searched by grep, as read says", async () => {
  const tools = [readTool(workspace.files), grepTool(workspace.files)];
  const usual = createDispatcher({ tools, workspace: workspace.files });
  put("huge.log", `${"x".repeat(99)}\n`.repeat(110_000).concat("needle\n"));
  expect(await runOne(usual, "read", { path: "huge.log" })).toContain("search it with grep");
  expect(await runOne(usual, "grep", { pattern: "needle", path: "huge.log" })).toBe(
    "huge.log:110001:needle",
  );
});

test("a file that was asked for by path and left out by glob is an error", async () => {
  expect(await grep({ pattern: "two", path: "a.txt", glob: "*.md" })).toBe(
    'error: validation_error: a.txt is a file and does not match the glob "*.md": leave one of them out',
  );
  expect(await grep({ pattern: "two", path: "src/b.ts", glob: "*.ts" })).toBe("src/b.ts:3:// two");
  expect(await grep({ pattern: "two", path: "src/b.ts", glob: "src/**" })).toContain("// two");
});

test("a line end in a name does not make two results", async () => {
  put("odd\n.txt", "needle\n");
  expect(await grep({ pattern: "needle" })).toBe('"odd\\n.txt":1:needle');
});
