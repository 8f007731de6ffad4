import { expect, test } from "vitest";
import {
  columnAt,
  pan,
  placeColumns,
  reveal,
  snap,
  sliceColumns,
  wholeView,
  zoom,
} from "./place-columns.ts";
import type { PicturedCall } from "./pictured-call.ts";

function callAt(startMs: number): PicturedCall {
  return {
    number: 1,
    startMs,
    model: "claude-sonnet-5-5",
    keptTokens: 0,
    added: [],
    readTokens: 0,
    written: [],
    outputTokens: 0,
    markers: [],
    miss: null,
    isCompacted: false,
    dollars: null,
    plainDollars: null,
    comparedDollars: null,
  };
}

test("columns stand side by side, or as far apart as their calls were", () => {
  const calls = [0, 1000, 9000, 10_000, 11_000].map(callAt);
  expect([...placeColumns(calls, "calls")]).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
  expect([...placeColumns(calls, "time")].map((edge) => Number(edge.toFixed(3)))).toEqual([
    0, 0.073, 0.655, 0.727, 0.8, 1,
  ]);
});

test("a clock that was set back moves no column to the left", () => {
  const edges = placeColumns([5000, 1000, 9000].map(callAt), "time");
  expect([...edges].every((edge, index) => edge >= (edges[index - 1] ?? 0))).toBe(true);
});

test("columns that are wider than a pixel have a slice each", () => {
  const edges = placeColumns(
    Array.from({ length: 4 }, (_, index) => callAt(index)),
    "calls",
  );
  const frame = { view: wholeView, width: 40 };
  expect(sliceColumns(edges, [1, 1, 1, 1], frame)).toEqual([
    { x: 0, width: 10, column: 0, first: 0, last: 0 },
    { x: 10, width: 10, column: 1, first: 1, last: 1 },
    { x: 20, width: 10, column: 2, first: 2, last: 2 },
    { x: 30, width: 10, column: 3, first: 3, last: 3 },
  ]);
});

test("ten thousand calls on two thousand pixels are two thousand slices of every call, the heaviest drawn", () => {
  const edges = placeColumns(
    Array.from({ length: 10_000 }, (_, index) => callAt(index)),
    "calls",
  );
  const weights = new Float64Array(10_000);
  weights[7777] = 5;
  const slices = sliceColumns(edges, weights, { view: wholeView, width: 2000 });
  expect(slices.length).toBeLessThanOrEqual(2000);
  expect(slices.reduce((sum, { first, last }) => sum + last - first + 1, 0)).toBe(10_000);
  expect(slices.filter(({ column }) => column === 7777)).toHaveLength(1);
});

test("zooming keeps the place under the pointer, and stays within the session", () => {
  expect(zoom(wholeView, 0.5, 2)).toEqual({ from: 0.25, to: 0.75 });
  expect(zoom({ from: 0.25, to: 0.75 }, 0.5, 0.1)).toEqual(wholeView);
  expect(zoom(wholeView, 1, 4)).toEqual({ from: 0.75, to: 1 });
  expect(pan({ from: 0.5, to: 1 }, 0.2)).toEqual({ from: 0.5, to: 1 });
});

test("what is in view begins at a whole pixel, and stays as wide as it was", () => {
  const { from, to } = snap({ from: 0.333, to: 0.833 }, 100);
  expect([from, to].map((each) => each.toFixed(6))).toEqual(["0.335000", "0.835000"]);
  expect(snap(wholeView, 100)).toEqual(wholeView);
});

test("a column is found by its place, and moved into view", () => {
  const edges = placeColumns(
    Array.from({ length: 10 }, (_, index) => callAt(index)),
    "calls",
  );
  expect([-1, 0, 0.05, 0.1, 0.95, 2].map((edge) => columnAt(edges, edge))).toEqual([
    0, 0, 0, 1, 9, 9,
  ]);
  expect(reveal({ from: 0, to: 0.5 }, edges, 7)).toEqual({ from: 0.30000000000000004, to: 0.8 });
  expect(reveal({ from: 0, to: 0.5 }, edges, 3)).toEqual({ from: 0, to: 0.5 });
});
