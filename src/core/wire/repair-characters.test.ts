import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { repairCharacters } from "./repair-characters.ts";

describe("half a character", () => {
  test.each([
    ['"\\ud800"', '"\uFFFD"', 1],
    ['"\\uDFFF"', '"\uFFFD"', 1],
    ['"\\ud800\\ud83d\\ude00"', '"\uFFFD\\ud83d\\ude00"', 1],
    ['"\\ude00\\ud83d"', '"\uFFFD\uFFFD"', 2],
    ['"\ud83d"', '"\uFFFD"', 1],
    ['"\\ud83d\ude00"', '"\\ud83d\\ude00"', 0],
    ['"\\\\ud800"', '"\\\\ud800"', 0],
    ['"\\\\\\ud800"', '"\\\\\uFFFD"', 1],
    ['"\\u0041 \u{1f600}"', '"\\u0041 \u{1f600}"', 0],
  ])("%j becomes %j", (json, expected, count) => {
    expect(repairCharacters(json)).toEqual({ json: expected, count });
  });

  test("is all that changes in any JSON, however its text is escaped", () => {
    const unit = fc.constantFrom(
      "a",
      "\\",
      '"',
      "\ud83d",
      "\ude00",
      "\u{1f600}",
      "\u2028",
      "u",
      "d83d",
    );
    const words = fc.array(unit).map((units) => units.join(""));
    fc.assert(
      fc.property(words, fc.boolean(), (text, isEscaped) => {
        const json = JSON.stringify({ text });
        const { json: repaired } = repairCharacters(isEscaped ? escaped(json) : json);
        expect(JSON.parse(repaired)).toEqual({ text: text.toWellFormed() });
        expect(repaired.isWellFormed()).toBe(true);
      }),
    );
  });
});

function escaped(json: string): string {
  return json.replaceAll(/[\ud800-\udfff]/g, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
}
