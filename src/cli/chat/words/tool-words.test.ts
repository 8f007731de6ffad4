import { expect, test } from "vitest";
import { aboutUse, previewUse } from "./tool-words.ts";

test("a tool use is described by its most telling input", () => {
  expect(aboutUse('{"path":"src/a.ts","offset":10}')).toBe("src/a.ts");
  expect(aboutUse('{"command":"npm test\\n  --silent"}')).toBe("npm test --silent");
  expect(aboutUse('{"pattern":"TODO","path":"src"}')).toBe("TODO in src");
  expect(aboutUse('{"pattern":"*","path":"."}')).toBe("*");
  expect(aboutUse('{"entry":"likes tea"}')).toBe("likes tea");
});

test("an input without text, or one that is not JSON, is described by nothing", () => {
  expect(aboutUse('{"limit":3}')).toBe("");
  expect(aboutUse("{")).toBe("");
});

test("escape codes in an input are removed, and in a preview they are made visible", () => {
  expect(aboutUse(String.raw`{"path":"a\u001b[31m.ts"}`)).toBe("a.ts");
  expect(previewUse({ command: "echo hi \u001b]0; rm -rf . \u0007" })).toEqual([
    "$ echo hi ␛]0; rm -rf . ␇",
  ]);
});

test("an edit is shown as the old and the new text", () => {
  expect(previewUse({ path: "a.ts", old: "one\ntwo", new: "three" })).toEqual([
    "a.ts",
    "- one",
    "- two",
    "+ three",
  ]);
});

test("a long command or file is shown to its last line", () => {
  const lines = Array.from({ length: 200 }, (_, index) => `echo ${index}`);
  expect(previewUse({ command: lines.join("\n") })).toEqual(lines.map((line) => `$ ${line}`));
  const preview = previewUse({ path: "a.txt", content: "0\n1" });
  expect(preview).toEqual(["a.txt", "+ 0", "+ 1", "3 B in all"]);
});

test("other inputs are shown too", () => {
  expect(previewUse({ command: "ls", timeout: 5 })).toEqual(["$ ls", "{", '  "timeout": 5', "}"]);
  expect(previewUse({ command: "ls", content: "x" })).toEqual([
    "{",
    '  "command": "ls",',
    '  "content": "x"',
    "}",
  ]);
});
