import * as fc from "fast-check";
import { expect, test } from "vitest";
import { calibrate, type Calibration, learn, uncalibrated } from "./calibration.ts";

test("a factor multiplies an estimate", () => {
  expect(calibrate(1000, { factor: 1.1, learned: 5, ignored: 0 })).toBe(1100);
  expect(calibrate(1000, uncalibrated)).toBe(1000);
});

test("a model that bills a fifth more is learned in steps", () => {
  const billed = { estimatedTokens: 2000, billedTokens: 2400 };
  expect(after(1, billed).factor).toBeCloseTo(1.0177, 4);
  expect(after(10, billed).factor).toBeCloseTo(1.1225, 3);
  expect(after(200, billed).factor).toBeCloseTo(1.2, 6);
});

test("one reply moves the factor by at most a twentieth", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1e6 }),
      fc.integer({ min: 0, max: 1e6 }),
      (estimated, billed) => {
        const { factor } = learn(uncalibrated, {
          estimatedTokens: estimated,
          billedTokens: billed,
        });
        expect(factor).toBeGreaterThan(0.95);
        expect(factor).toBeLessThan(1.0513);
      },
    ),
  );
});

test("text an agent hid in the request does not move the factor", () => {
  const hidden = learn(uncalibrated, { estimatedTokens: 500, billedTokens: 2000 });
  expect(hidden).toEqual({ factor: 1, learned: 0, ignored: 1 });
});

test("a reply of a few tokens teaches nothing", () => {
  expect(learn(uncalibrated, { estimatedTokens: 99, billedTokens: 110 }).ignored).toBe(1);
  expect(learn(uncalibrated, { estimatedTokens: 500, billedTokens: 0 }).ignored).toBe(1);
});

test("whatever replies come, the factor stays between two thirds and one and a half", () => {
  const observation = fc.record({
    estimatedTokens: fc.integer({ min: 0, max: 100_000 }),
    billedTokens: fc.integer({ min: -10, max: 100_000 }),
  });
  fc.assert(
    fc.property(fc.array(observation, { maxLength: 200 }), (observations) => {
      const { factor, learned, ignored } = observations.reduce(learn, uncalibrated);
      expect(factor).toBeGreaterThan(0.67);
      expect(factor).toBeLessThan(1.5);
      expect(learned + ignored).toBe(observations.length);
    }),
  );
});

function after(replies: number, billed: Parameters<typeof learn>[1]): Calibration {
  return Array.from({ length: replies }).reduce<Calibration>(
    (calibration) => learn(calibration, billed),
    uncalibrated,
  );
}
