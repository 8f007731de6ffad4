import { expect, test } from "vitest";
import { aboutUse, previewUse } from "./tool-words.ts";

test("a use is told by what a person would name first", () => {
  expect(aboutUse('{"path":"src/a.ts","offset":10}')).toBe("src/a.ts");
  expect(aboutUse('{"command":"npm test\\n  --silent"}')).toBe("npm test --silent");
  expect(aboutUse('{"pattern":"TODO","path":"src"}')).toBe("TODO in src");
  expect(aboutUse('{"pattern":"*","path":"."}')).toBe("*");
  expect(aboutUse('{"entry":"likes tea"}')).toBe("likes tea");
});

test("an input without words, or one that is no JSON, says nothing", () => {
  expect(aboutUse('{"limit":3}')).toBe("");
  expect(aboutUse("{")).toBe("");
});

test("escape codes in an input reach nobody", () => {
  expect(aboutUse(String.raw`{"path":"a\u001b[31m.ts"}`)).toBe("a.ts");
  expect(previewUse({ command: "ls\u001b]0;x\u0007" })).toEqual(["$ ls"]);
});

test("an edit is shown as what goes and what comes", () => {
  expect(previewUse({ path: "a.ts", old: "one\ntwo", new: "three" })).toEqual([
    "a.ts",
    "- one",
    "- two",
    "+ three",
  ]);
});

test("a long file is shown by its beginning, with what is missing", () => {
  const lines = Array.from({ length: 20 }, (_, index) => String(index));
  const preview = previewUse({ path: "a.txt", content: lines.join("\n") });
  expect(preview.slice(0, 2)).toEqual(["a.txt", "+ 0"]);
  expect(preview.slice(-2)).toEqual(["… 12 more lines", "49 B in all"]);
});
