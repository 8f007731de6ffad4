import { describe, expect, test } from "vitest";
import { compactJson } from "../../json-source.ts";
import { parseJson } from "./fields.ts";

function roundTrip(text: string): string | null {
  const value = parseJson(text);
  return value === null ? null : compactJson(value);
}

describe("reading JSON", () => {
  test("equal strings are equal however they were escaped", () => {
    expect(roundTrip('"\\u00e9\\/"')).toBe(roundTrip('"é/"'));
  });

  test("half of a character is kept, as a cut text may end in one", () => {
    expect(roundTrip('"\\ud83d"')).toBe('"\\ud83d"');
  });

  test.each(["", "{", "[1,]", "{'a':1}", "01", '{"a":1}x'])("%s is no JSON", (text) => {
    expect(parseJson(text)).toBeNull();
  });

  test("what is nested too deep is refused, not a crash", () => {
    expect(parseJson("[".repeat(100_000) + "]".repeat(100_000))).toBeNull();
    expect(parseJson("[".repeat(200) + "]".repeat(200))).not.toBeNull();
  });
});
