import { expect, test } from "vitest";
import { createLru } from "./lru.ts";

test("what was not asked for the longest goes first", () => {
  const lru = createLru<number>(2);
  lru.set("a", 1);
  lru.set("b", 2);
  expect(lru.get("a")).toBe(1);
  lru.set("c", 3);
  expect([lru.get("a"), lru.get("b"), lru.get("c")]).toEqual([1, undefined, 3]);
  expect(lru.size).toBe(2);
});

test("a value that is set again takes no second place", () => {
  const lru = createLru<number>(2);
  lru.set("a", 1);
  lru.set("a", 2);
  lru.set("b", 3);
  expect([lru.get("a"), lru.get("b"), lru.size]).toEqual([2, 3, 2]);
});

test.each([0, -1, 1.5, Number.NaN])("a capacity of %s is refused", (capacity) => {
  expect(() => createLru(capacity)).toThrow("must be a whole number above 0");
});
