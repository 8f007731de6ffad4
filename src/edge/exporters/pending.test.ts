import { expect, test } from "vitest";
import { createPending } from "./pending.ts";

test("a value is returned once", () => {
  const pending = createPending<number>(10);
  pending.begin("a", 1);
  expect([pending.end("a"), pending.end("a")]).toEqual([1, undefined]);
});

test("the oldest value is dropped first, and beginning again makes it the newest", () => {
  const pending = createPending<number>(2);
  pending.begin("a", 1);
  pending.begin("b", 2);
  pending.begin("a", 3);
  pending.begin("c", 4);
  expect(["a", "b", "c"].map((key) => pending.end(key))).toEqual([3, undefined, 4]);
});
