import { describe, expect, test } from "vitest";
import type { Lifetime } from "../message/usage.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { createRuler } from "./cache-state.ts";
import { fitMarkers, type Candidate, type Fitted } from "./fit-markers.ts";
import { blocksOf, gpt, olderGpt, sonnet } from "./test-kit.ts";

function want(block: number, lifetime: Lifetime = "5m"): Candidate {
  return { block, lifetime, slot: "rule", reason: `wanted at ${block}` };
}

function fit(
  shorts: readonly string[],
  candidates: readonly Candidate[],
  {
    model = sonnet,
    slotsTaken = 0,
  }: { readonly model?: ModelFacts; readonly slotsTaken?: number } = {},
): Fitted {
  const blocks = blocksOf(...shorts);
  return fitMarkers(candidates, {
    blocks,
    rules: model.cache,
    ruler: createRuler(blocks, null),
    present: [],
    slotsTaken,
  });
}

function placesOf({ markers }: Fitted): readonly string[] {
  return markers.map(({ block, lifetime }) => `${block} ${lifetime}`);
}

const long = ["static 2000", "user 100 x9"];

describe("a candidate is dropped", () => {
  test("where the provider takes no markers", () => {
    expect(fit(long, [want(3, "1h")], { model: olderGpt })).toEqual({
      markers: [],
      dropped: [
        { block: 3, lifetime: "1h", slot: "rule", reason: "the provider takes no markers" },
      ],
    });
  });

  test("where nothing at or before it can carry one", () => {
    const { markers, dropped } = fit(["thinking 2000", "thinking 10"], [want(1)]);
    expect(markers).toEqual([]);
    expect(dropped).toMatchObject([{ block: 1, reason: "no carrier at or before it" }]);
  });

  test("where a block that could carry one may not", () => {
    const blocks = blocksOf("static 2000").map((block) => ({ ...block, mayCarryMarker: false }));
    const ruler = createRuler(blocks, null);
    const { dropped } = fitMarkers([want(0)], {
      blocks,
      rules: sonnet.cache,
      ruler,
      present: [],
      slotsTaken: 0,
    });
    expect(dropped).toMatchObject([{ block: 0, reason: "no carrier at or before it" }]);
  });

  test("where the prefix is shorter than the provider keeps", () => {
    const fitted = fit(["static 1023", "user 1"], [want(0), want(1)]);
    expect(placesOf(fitted)).toEqual(["1 5m"]);
    expect(fitted.dropped).toMatchObject([{ block: 0, reason: "below the provider's minimum" }]);
  });

  test("where an earlier one stands already", () => {
    const fitted = fit(long, [want(3, "5m"), want(3, "1h")]);
    expect(placesOf(fitted)).toEqual(["3 5m"]);
    expect(fitted.dropped).toMatchObject([
      { block: 3, lifetime: "1h", reason: "the same place as another marker" },
    ]);
  });

  test("where the provider takes no more; slots that are spoken for count", () => {
    const candidates = [9, 7, 5, 3, 1].map((block) => want(block));
    const over = fit(long, candidates);
    expect(placesOf(over)).toEqual(["3 5m", "5 5m", "7 5m", "9 5m"]);
    expect(over.dropped).toMatchObject([{ block: 1, reason: "over the provider's limit" }]);
    expect(placesOf(fit(long, candidates, { slotsTaken: 2 }))).toEqual(["7 5m", "9 5m"]);
  });
});

describe("a marker", () => {
  test("moves to the nearest block before it that can carry one", () => {
    const fitted = fit(["static 2000", "user 10", "said 10", "thinking 10 x2"], [want(4)]);
    expect(fitted.markers).toEqual([
      { block: 2, key: "k2", lifetime: "5m", slot: "rule", reason: "wanted at 4" },
    ]);
    expect(
      placesOf(
        fit(["static 2000", "user 10", "use 10"], [{ ...want(2), lifetime: "30m" }], {
          model: gpt,
        }),
      ),
    ).toEqual(["1 30m"]);
  });

  test("lives as long as was asked, or as near below as the provider offers, or for its shortest", () => {
    expect(placesOf(fit(long, [want(1, "30m")]))).toEqual(["1 5m"]);
    expect(placesOf(fit(long, [want(1, "24h")]))).toEqual(["1 1h"]);
    expect(placesOf(fit(long, [want(1, "5m")], { model: gpt }))).toEqual(["1 30m"]);
    expect(placesOf(fit(long, [want(1, "1h")], { model: gpt }))).toEqual(["1 30m"]);
  });

  test("is raised where one after it lives longer, and says so (B-08)", () => {
    const fitted = fit(long, [want(2), want(5, "1h"), want(8), want(3)]);
    expect(placesOf(fitted)).toEqual(["2 1h", "3 1h", "5 1h", "8 5m"]);
    expect(fitted.markers.map(({ reason }) => reason)).toEqual([
      "wanted at 2; raised to 1h because one after it is",
      "wanted at 3; raised to 1h because one after it is",
      "wanted at 5",
      "wanted at 8",
    ]);
  });

  test("is not raised where the provider takes any order", () => {
    const fitted = fit(long, [want(2, "30m"), want(5, "12h")], { model: gpt });
    expect(placesOf(fitted)).toEqual(["2 30m", "5 12h"]);
  });
});
