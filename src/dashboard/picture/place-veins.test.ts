import { expect, test } from "vitest";
import { edgeAt, placeVeins, type Vein } from "./place-veins.ts";
import { placeColumns } from "./place-columns.ts";
import type { PicturedCall } from "./pictured-call.ts";

const calls = [0, 1000, 5000].map((startMs, index): PicturedCall => ({
  number: index + 1,
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
}));
const edges = placeColumns(calls, "calls");

function vein(session: string, ...starts: readonly number[]): Vein {
  return {
    session,
    name: session,
    callCount: starts.length,
    dollars: 0,
    calls: starts.map((startMs) => ({ startMs, promptTokens: 10, readTokens: 0 })),
  };
}

test("a moment lies within the column of the call before it", () => {
  expect([0, 500, 3000, 5000, 9000].map((ms) => edgeAt(calls, edges, ms) * 3)).toEqual([
    0, 0.5, 1.5, 2, 2,
  ]);
  expect(edgeAt(calls, edges, -50)).toBe(0);
});

test("veins that would touch lie in lanes of their own, and what finds no lane is counted", () => {
  const veins = [vein("a", 1000, 2000), vein("b", 1500), vein("c", 1600), vein("d", 5000)];
  const { placed, leftOutCount } = placeVeins(
    veins,
    { calls, edges },
    {
      lanesMax: 2,
      widthOf: () => 0.3,
    },
  );
  expect(placed.map((each) => [each.vein.session, each.lane])).toEqual([
    ["a", 0],
    ["b", 1],
    ["d", 0],
  ]);
  expect(leftOutCount).toBe(1);
});
