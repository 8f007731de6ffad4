import * as fc from "fast-check";
import { expect, test } from "vitest";
import { cutToWidth, padToWidth, widthOf, wrapLine } from "./text-width.ts";

test("wide characters take two columns, marks and joiners none", () => {
  expect(widthOf("abc")).toBe(3);
  expect(widthOf("日本語")).toBe(6);
  expect(widthOf("한글")).toBe(4);
  expect(widthOf("ｆｕｌｌ")).toBe(8);
  expect(widthOf("e\u0301")).toBe(1);
  expect(widthOf("👩‍👩‍👧")).toBe(2);
  expect(widthOf("🇩🇪")).toBe(2);
  expect(widthOf("❤️")).toBe(2);
  expect(widthOf("─│✓…")).toBe(4);
});

test("lines break at spaces, and inside a word only where it is too long", () => {
  expect(wrapLine("the quick brown fox", 10)).toEqual(["the quick", "brown fox"]);
  expect(wrapLine("abcdefghij", 4)).toEqual(["abcd", "efgh", "ij"]);
  expect(wrapLine("  indented words here", 12)).toEqual(["  indented", "words here"]);
  expect(wrapLine("日本語日本語", 5)).toEqual(["日本", "語日", "本語"]);
  expect(wrapLine("", 5)).toEqual([""]);
});

test("a tab takes four columns", () => {
  expect(wrapLine("\ta", 10)).toEqual(["    a"]);
});

test("text without spaces is broken between its wide characters", () => {
  expect(wrapLine("- 日本語のテキスト ok", 12)).toEqual(["- 日本語のテ", "キスト ok"]);
});

test("no line exceeds the width, and no word is lost", () => {
  const words = fc.array(fc.constantFrom("a", "word", "日本", "👩‍👧", "longer-than-all", "é"));
  fc.assert(
    fc.property(words, fc.integer({ min: 2, max: 30 }), (list, width) => {
      const text = list.join(" ");
      const lines = wrapLine(text, width);
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width);
      expect(lines.join("").replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
    }),
  );
});

test("more words change only the last line", () => {
  const words = fc.array(fc.constantFrom("a", " ", "word ", "日本", "some words "));
  fc.assert(
    fc.property(words, words, fc.integer({ min: 2, max: 20 }), (before, more, width) => {
      const first = wrapLine(before.join(""), width);
      const both = wrapLine([...before, ...more].join(""), width);
      expect(both.slice(0, first.length - 1)).toEqual(first.slice(0, -1));
    }),
  );
});

test("cut text ends with an ellipsis, and padding counts columns", () => {
  expect(cutToWidth("abcdef", 4)).toBe("abc…");
  expect(cutToWidth("日本語", 4)).toBe("日…");
  expect(cutToWidth("abc", 3)).toBe("abc");
  expect(cutToWidth("abc", 0)).toBe("");
  expect(padToWidth("日", 4)).toBe("日  ");
});
