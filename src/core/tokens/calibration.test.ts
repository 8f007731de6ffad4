import * as fc from "fast-check";
import { expect, test } from "vitest";
import { calibrate, type Calibration, learn, startFrom, uncalibrated } from "./calibration.ts";

test("a factor multiplies an estimate", () => {
  expect(calibrate(1000, { ...uncalibrated, factor: 1.1 })).toBe(1100);
  expect(calibrate(1000, uncalibrated)).toBe(1000);
});

test("a model that bills a fifth more is learned from the fifth reply on", () => {
  expect(afterRatios(...times(4, 1.2)).factor).toBe(1);
  expect(afterRatios(...times(5, 1.2)).factor).toBeCloseTo(1.179, 3);
  expect(afterRatios(...times(10, 1.2)).factor).toBeCloseTo(1.193, 3);
  expect(afterRatios(...times(200, 1.2)).factor).toBeCloseTo(1.198, 3);
});

test("replies that disagree leave the factor where it is", () => {
  const { factor } = afterRatios(1.06, 0.95, 1.01, 0.97, 1.04, 1, 1.05, 0.96, 1.02, 0.99);
  expect(Math.abs(factor - 1)).toBeLessThan(0.002);
});

test("a hidden note in every fifth reply does not move the factor", () => {
  const ratios = times(6, 1, 1.01, 0.99, 1.01, 1.4);
  expect(afterRatios(...ratios).factor).toBeCloseTo(1, 2);
});

test("a factor follows a change within a dozen replies", () => {
  const before = afterRatios(...times(30, 1.2));
  const { factor } = times(13, 0.9).reduce(learnRatio, before);
  expect(factor).toBeCloseTo(0.9, 1);
});

test("text an agent hid in the request does not move the factor", () => {
  const hidden = learn(uncalibrated, { estimatedTokens: 500, billedTokens: 2000 });
  expect(hidden).toEqual({ ...uncalibrated, ignored: 1 });
});

test("a reply of a few tokens teaches nothing", () => {
  expect(learn(uncalibrated, { estimatedTokens: 99, billedTokens: 110 }).ignored).toBe(1);
  expect(learn(uncalibrated, { estimatedTokens: 500, billedTokens: 0 }).ignored).toBe(1);
});

test("what another source taught holds until five bills say otherwise", () => {
  const taught = startFrom(afterRatios(...times(10, 1)), 1.3);
  expect(taught).toMatchObject({ factor: 1.3, base: 1.3, recent: [], learned: 10 });
  const after = (replies: number): number => times(replies, 1.1).reduce(learnRatio, taught).factor;
  expect(after(4)).toBe(1.3);
  expect(after(10)).toBeCloseTo(1.1, 1);
});

test("whatever replies come, the factor stays between two thirds and one and a half", () => {
  const observation = fc.record({
    estimatedTokens: fc.integer({ min: 0, max: 100_000 }),
    billedTokens: fc.integer({ min: -10, max: 100_000 }),
  });
  fc.assert(
    fc.property(fc.array(observation, { maxLength: 200 }), (observations) => {
      const { factor, recent, learned, ignored } = observations.reduce(learn, uncalibrated);
      expect(factor).toBeGreaterThan(0.67);
      expect(factor).toBeLessThan(1.5);
      expect(recent.length).toBeLessThanOrEqual(24);
      expect(learned + ignored).toBe(observations.length);
    }),
  );
});

/** After replies whose bills are so many times the estimate. */
function afterRatios(...ratios: number[]): Calibration {
  return ratios.reduce(learnRatio, uncalibrated);
}

function learnRatio(calibration: Calibration, ratio: number): Calibration {
  return learn(calibration, { estimatedTokens: 2000, billedTokens: 2000 * ratio });
}

function times(count: number, ...ratios: number[]): number[] {
  return Array.from({ length: count }, () => ratios).flat();
}
