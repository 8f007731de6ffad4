import { expect, test } from "vitest";
import { createCountCache } from "./count-cache.ts";
import { noRawCount } from "./raw-count.ts";

test("a message is counted once", () => {
  const cache = createCountCache(10);
  let counted = 0;
  const count = () => ({ ...noRawCount, textTokens: ++counted });
  expect(cache.get("a", count).textTokens).toBe(1);
  expect(cache.get("a", count).textTokens).toBe(1);
  expect(counted).toBe(1);
});

test("the count that was not asked for the longest is forgotten first", () => {
  const cache = createCountCache(2);
  const asked: string[] = [];
  const get = (key: string) => cache.get(key, () => (asked.push(key), noRawCount));
  for (const key of ["a", "b", "a", "c", "a", "b"]) get(key);
  expect(asked).toEqual(["a", "b", "c", "b"]);
  expect(cache.size).toBe(2);
});
