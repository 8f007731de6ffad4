import { expect, test } from "vitest";
import { findLayers, findTierEnds } from "./find-layers.ts";
import type { AddedPiece, PicturedCall } from "./pictured-call.ts";

function call(keptTokens: number, ...added: readonly AddedPiece[]): PicturedCall {
  return {
    number: 1,
    startMs: 0,
    model: "claude-sonnet-5-5",
    keptTokens,
    added,
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

const tools: AddedPiece = { tier: "T0", section: "tools", tokens: 100, since: 1 };
const rules: AddedPiece = { tier: "T1", section: "rules", tokens: 50, since: 1 };
const say = (section: string, tokens: number): AddedPiece => ({
  tier: "T3",
  section,
  tokens,
  since: 1,
});

test("a layer runs from the call that added it to the end", () => {
  expect(findLayers([call(0, tools, say("a", 10)), call(110, say("b", 20))])).toEqual([
    { strand: 2, since: 1, tier: "T3", section: "b", from: 1, to: 2, bottom: 110, top: 130 },
    { strand: 1, since: 1, tier: "T3", section: "a", from: 0, to: 2, bottom: 100, top: 110 },
    { strand: 0, since: 1, tier: "T0", section: "tools", from: 0, to: 2, bottom: 0, top: 100 },
  ]);
});

test("a change ends the layers above it, and cuts the one that it is in", () => {
  const found = findLayers([call(0, tools, say("a", 40)), call(120, say("b", 5))]);
  expect(
    found.map(({ section, from, to, bottom, top }) => [section, from, to, bottom, top]),
  ).toEqual([
    ["a", 0, 1, 100, 140],
    ["b", 1, 2, 120, 125],
    ["a", 1, 2, 100, 120],
    ["tools", 0, 2, 0, 100],
  ]);
});

test("tokens of calls that are not known are history without a name", () => {
  expect(findLayers([call(500, say("a", 1))])).toEqual([
    { strand: 1, since: 1, tier: "T3", section: "a", from: 0, to: 1, bottom: 500, top: 501 },
    { strand: 0, since: 1, tier: "T3", section: "", from: 0, to: 1, bottom: 0, top: 500 },
  ]);
});

test("what is sent again after a change below it is the same strand, higher up", () => {
  const first = call(0, tools, say("a", 40), say("b", 20));
  const second = { ...call(0, { ...tools, tokens: 130 }, say("a", 40), say("b", 20)), number: 2 };
  const found = findLayers([first, second]);
  const places = (section: string): unknown =>
    found
      .filter((layer) => layer.section === section)
      .map(({ strand, from, to, bottom, top }) => [strand, from, to, bottom, top]);
  expect(places("a")).toEqual([
    [1, 0, 1, 100, 140],
    [1, 1, 2, 130, 170],
  ]);
  expect(places("b")).toEqual([
    [2, 0, 1, 140, 160],
    [2, 1, 2, 170, 190],
  ]);
  // Other tools: not said to have been there before.
  const other = { ...call(0, { ...tools, since: 2 }), number: 2 };
  expect(findLayers([first, other]).map(({ strand, from }) => [strand, from])).toEqual([
    [2, 0],
    [1, 0],
    [0, 0],
    [3, 1],
  ]);
});

test("tiers end where their last piece ends, in every column", () => {
  const calls = [
    call(0, tools, rules, say("a", 10)),
    call(160, say("b", 20)),
    call(100, rules, say("c", 5)),
    call(0, say("d", 7)),
  ];
  expect(findTierEnds(calls)).toEqual([
    [100, 150, 150, 160, 160],
    [100, 150, 150, 180, 180],
    [100, 150, 150, 155, 155],
    [0, 0, 0, 7, 7],
  ]);
});
