// Goal: lines that say the date or the time are found, and no others. Method: lines as agents write them.
import { expect, test } from "vitest";
import { findVolatileLines } from "./volatile-lines.ts";

/** What is left, and what was found. */
function split(text: string): { readonly left: string; readonly lines: readonly string[] } | null {
  const source = JSON.stringify(text);
  const found = findVolatileLines(source);
  if (found === null) return null;
  let [left, from] = ["", 0];
  for (const { start, end } of found.cuts) {
    left += source.slice(from, start);
    from = end;
  }
  left += source.slice(from);
  return {
    left: String(JSON.parse(left)),
    lines: found.lines.map((line) => String(JSON.parse(`"${line}"`))),
  };
}

test.each([
  "Current date: 2026-11-16",
  "- Today's date is November 16, 2026.",
  "<current_time>2026-11-16T09:00:00Z</current_time>",
  "  * Date and time: 16 Nov 2026, 9:05",
  "Today is Monday, 16.11.2026.",
  "The current date is 11/16/2026",
  "Now: 09:05",
  String.raw`Date with a backslash, which breaks no line: \n2026-11-16`,
])("%s", (line) => {
  const wanted = { left: "Be brief.\nBe kind.", lines: [line] };
  expect(split(`Be brief.\n${line}\nBe kind.`)).toEqual(wanted);
  expect(split(`${line}\nBe brief.\nBe kind.`)).toEqual(wanted);
  expect(split(`Be brief.\nBe kind.\n${line}`)).toEqual(wanted);
});

test.each([
  "The meeting of 2026-11-16 was at 09:00.",
  "Date fields are written as YYYY-MM-DD.",
  '{"date":"2026-11-16"}',
  "Timestamps such as 2026-11-16T09:00:00Z are in UTC.",
  `Date: 2026-11-16 ${"and much more ".repeat(20)}`,
  "Today we write code.",
])("not: %s", (line) => {
  expect(split(`Be brief.\n${line}\nBe kind.`)).toBeNull();
});

test("neighbours at the end go with one break before them", () => {
  expect(split("Be brief.\nDate: 2026-11-16\nTime: 09:00")).toEqual({
    left: "Be brief.",
    lines: ["Date: 2026-11-16", "Time: 09:00"],
  });
});

test("a text with nothing else keeps its lines", () => {
  expect(split("Date: 2026-11-16\n\nTime: 09:00")).toBeNull();
});
