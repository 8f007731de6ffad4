import * as fc from "fast-check";
import { expect, test } from "vitest";
import { countOccurrences } from "./change-memory.ts";

test("occurrences are counted also where they overlap, in texts and in lists", () => {
  expect(countOccurrences("aaa", "aa")).toEqual({ count: 2, firstIndex: 0 });
  expect(countOccurrences("xabab", "ab")).toEqual({ count: 2, firstIndex: 1 });
  expect(countOccurrences(["one", "two", "one"], ["two", "one"])).toEqual({
    count: 1,
    firstIndex: 1,
  });
  expect(countOccurrences("abc", "d")).toEqual({ count: 0, firstIndex: -1 });
  expect(countOccurrences("abc", "")).toEqual({ count: 0, firstIndex: -1 });
});

test("the count is that of looking at every place", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 30 });
  const part = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(word, part, (text, wanted) => {
      const places = Array.from(text, (_, index) => index).filter((index) =>
        text.startsWith(wanted, index),
      );
      expect(countOccurrences(text, wanted)).toEqual({
        count: places.length,
        firstIndex: places[0] ?? -1,
      });
    }),
  );
});
