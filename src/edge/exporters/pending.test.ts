import { expect, test } from "vitest";
import { createPending } from "./pending.ts";

test("what was begun is given back once", () => {
  const pending = createPending<number>(10);
  pending.begin("a", 1);
  expect([pending.end("a"), pending.end("a")]).toEqual([1, undefined]);
});

test("what was begun first is forgotten first, and beginning again counts as late", () => {
  const pending = createPending<number>(2);
  pending.begin("a", 1);
  pending.begin("b", 2);
  pending.begin("a", 3);
  pending.begin("c", 4);
  expect(["a", "b", "c"].map((key) => pending.end(key))).toEqual([3, undefined, 4]);
});
