// Goal: estimates and limits follow what a provider billed and refused. Method: bills and refusals by hand.
import { expect, test } from "vitest";
import { resolveModel } from "../models/resolve-model.ts";
import {
  estimatePrompt,
  joinSizes,
  learnFromBill,
  learnFromOverflow,
  noSizes,
  readSizes,
  withLearnedLimit,
  type LearnedSizes,
} from "./learned-sizes.ts";

const refusal = {
  estimatedTokens: 10_000,
  countedTokens: null,
  promptTokensMax: null,
  knownTokensMax: 200_000,
  acceptedTokens: 0,
} as const;

test("bills that are always a fifth higher move estimates towards them, and leave exact tokens alone (C-8)", () => {
  let sizes: LearnedSizes = noSizes;
  for (let reply = 0; reply < 60; reply += 1) {
    sizes = learnFromBill(sizes, { estimatedTokens: 5_000, billedTokens: 6_000 });
  }
  expect(estimatePrompt(0, 5_000, sizes)).toBeGreaterThan(5_900);
  expect(estimatePrompt(50_000, 0, sizes)).toBe(50_000);
});

test("a refusal that names the prompt's size corrects the factor at once", () => {
  const sizes = learnFromOverflow(noSizes, { ...refusal, countedTokens: 13_000 });
  expect(estimatePrompt(0, 10_000, sizes)).toBe(13_000);
});

test("frequent refusals without numbers raise estimates step by step, up to one and a half", () => {
  let sizes = noSizes;
  const factors: number[] = [];
  for (let refused = 0; refused < 6; refused += 1) {
    sizes = learnFromOverflow(sizes, refusal);
    factors.push(Math.round(sizes.calibration.factor * 1000) / 1000);
  }
  expect(factors).toEqual([1.1, 1.21, 1.331, 1.464, 1.5, 1.5]);
  expect(sizes.overflows).toBe(6);
});

test("a limit in a refusal lowers the window, and says nothing against the estimate (B-11)", () => {
  const { facts } = resolveModel("claude-sonnet-4-6");
  const sizes = learnFromOverflow(noSizes, {
    ...refusal,
    promptTokensMax: 128_000,
    knownTokensMax: 1_000_000,
  });
  expect(sizes.calibration.factor).toBe(1);
  expect(withLearnedLimit(facts, sizes)).toMatchObject({
    windowTokens: 128_000,
    inputTokensMax: 128_000,
  });
});

test.each([
  ["is below a prompt that was accepted", { promptTokensMax: 40_000, acceptedTokens: 50_000 }],
  ["is too small for any model", { promptTokensMax: 12 }],
])("a limit that %s is not believed", (_why, odd) => {
  expect(learnFromOverflow(noSizes, { ...refusal, ...odd }).promptTokensMax).toBeNull();
});

test("a limit above the known one changes nothing", () => {
  const { facts } = resolveModel("claude-sonnet-4-6");
  expect(withLearnedLimit(facts, { ...noSizes, promptTokensMax: 9_000_000 })).toBe(facts);
});

test("two sessions share the lower limit and the factor of the one that saw more replies", () => {
  const calibration = { ...noSizes.calibration, factor: 1.2, learned: 9 };
  const one = { ...noSizes, promptTokensMax: 100_000 };
  const other = { calibration, overflows: 1, promptTokensMax: 200_000 };
  expect(joinSizes(one, other)).toEqual({ calibration, overflows: 1, promptTokensMax: 100_000 });
});

test("a session stored before there was a base goes on from its factor", () => {
  const stored = {
    calibration: { factor: 1.1, learned: 40, ignored: 2 },
    overflows: 1,
    promptTokensMax: null,
  };
  const sizes = readSizes(stored);
  expect(sizes).toEqual({
    ...stored,
    calibration: { ...stored.calibration, base: 1.1, recent: [] },
  });
  const bill = { estimatedTokens: 5_000, billedTokens: 5_500 };
  expect(learnFromBill(sizes, bill).calibration).toMatchObject({ factor: 1.1, learned: 41 });
});

test("stored sizes come back; anything else is nothing learned", () => {
  const billed = learnFromBill(noSizes, { estimatedTokens: 5_000, billedTokens: 6_000 });
  const sizes = learnFromOverflow(billed, { ...refusal, promptTokensMax: 128_000 });
  expect(readSizes(JSON.parse(JSON.stringify(sizes)))).toEqual(sizes);
  for (const odd of [null, 7, {}, { calibration: { factor: 0 } }, { calibration: { factor: "1" } }])
    expect(readSizes(odd)).toEqual(noSizes);
});
