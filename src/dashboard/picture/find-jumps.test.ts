import { expect, test } from "vitest";
import { findJumps } from "./find-jumps.ts";

const usual = [
  { dollars: 1, callCount: 100, missCount: 2 },
  { dollars: 1.2, callCount: 100, missCount: 4 },
  { dollars: 0.8, callCount: 100, missCount: 0 },
];

test("an hour that costs or misses more than a multiple of the usual one is a jump", () => {
  const last = { dollars: 3.5, callCount: 200, missCount: 30 };
  expect(findJumps(last, usual, 3)).toEqual([
    { what: "dollars", now: 3.5, usual: 1 },
    { what: "misses", now: 0.15, usual: 0.02 },
  ]);
  expect(findJumps(last, usual, 4)).toEqual([{ what: "misses", now: 0.15, usual: 0.02 }]);
  expect(findJumps(last, usual, 10)).toEqual([]);
});

test("quiet hours do not count as usual ones, and one or two hours are no custom", () => {
  const last = { dollars: 3.5, callCount: 200, missCount: 0 };
  const quiet = { dollars: 0, callCount: 0, missCount: 0 };
  expect(findJumps(last, [...usual, quiet, quiet, quiet, quiet], 3)).toHaveLength(1);
  expect(findJumps(last, [...usual.slice(1), quiet], 3)).toEqual([]);
});

test("small sums and single misses are no jump", () => {
  const small = usual.map((each) => ({ ...each, dollars: 0.0001, missCount: 0 }));
  expect(findJumps({ dollars: 0.009, callCount: 10, missCount: 2 }, small, 3)).toEqual([]);
});
