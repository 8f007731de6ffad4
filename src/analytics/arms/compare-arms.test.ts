// Goal: what is claimed of optimised conversations is true. Method: conversations drawn from a known truth, many times over.
import { describe, expect, test } from "vitest";
import { compareArms, type Family } from "./compare-arms.ts";

/** Draws of the test's own, for each experiment others. */
function createRandom(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) >>> 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}

/** A few are a hundred times as long as most, and each pays another share of its plain cost around `share`. */
function conversations(count: number, share: number, random: () => number): readonly Family[] {
  return Array.from({ length: count }, () => {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const plainUsd = Math.exp(1.2 * normal);
    return { plainUsd, costUsd: plainUsd * share * (0.7 + 0.6 * random()) };
  });
}

const alike: Family = { costUsd: 0.25, plainUsd: 1 };

describe("comparing optimised conversations with those held out", () => {
  test("gives the shares of their plain cost, and what was saved by them", () => {
    const held = [
      { costUsd: 0.4, plainUsd: 1 },
      { costUsd: 1.6, plainUsd: 3 },
    ];
    expect(compareArms([alike, alike], held)).toEqual({
      strataShare: 0.25,
      holdoutShare: 0.5,
      savedShare: 0.5,
      interval: null,
      claim: null,
      reason: "2 optimised and 2 held-out conversations are too few, 20 of each are needed",
    });
  });

  test("claims what all conversations show", () => {
    const strata = Array.from({ length: 20 }, () => alike);
    const holdout = strata.map(({ plainUsd }) => ({ plainUsd, costUsd: 0.5 }));
    expect(compareArms(strata, holdout)).toMatchObject({
      savedShare: 0.5,
      interval: { low: 0.5, high: 0.5 },
      claim: "cheaper",
      reason: null,
    });
    expect(compareArms(holdout, strata)).toMatchObject({ savedShare: -1, claim: "dearer" });
  });

  test("claims nothing where an arm is empty or free", () => {
    expect(compareArms([], [])).toMatchObject({ savedShare: null, claim: null });
    const free = Array.from({ length: 30 }, () => ({ costUsd: 0, plainUsd: 0 }));
    expect(compareArms(free, free)).toMatchObject({
      interval: null,
      reason: "nothing of it has a price",
    });
  });

  test("longer conversations in one arm are no saving", () => {
    const short = Array.from({ length: 25 }, () => alike);
    const long = short.map(() => ({ costUsd: 25, plainUsd: 100 }));
    expect(compareArms(short, long)).toMatchObject({
      savedShare: 0,
      claim: null,
      reason: "the interval includes zero",
    });
  });

  test("is the same every time", () => {
    const random = createRandom(7);
    const [strata, holdout] = [conversations(40, 0.3, random), conversations(30, 0.35, random)];
    expect(compareArms(strata, holdout)).toEqual(compareArms(strata, holdout));
  });

  test.each([
    ["no difference", 0.4, 0],
    ["a fifth saved", 0.32, 0.2],
  ])(
    "the interval holds the truth in at least nine of ten experiments: %s",
    (_name, share, saved) => {
      const held = Array.from({ length: 60 }, (_, seed) => {
        const random = createRandom(seed + 1);
        const strata = conversations(60, share, random);
        const { interval } = compareArms(strata, conversations(24, 0.4, random));
        return interval !== null && interval.low <= saved && saved <= interval.high;
      });
      expect(held.filter(Boolean).length).toBeGreaterThanOrEqual(54);
    },
  );
});
