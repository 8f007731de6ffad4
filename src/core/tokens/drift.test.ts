import { describe, expect, test } from "vitest";
import { addDrift, openDriftSeries, toDriftPercent } from "./drift.ts";

const labels = { agent: "coder", provider: "anthropic", model: "claude-sonnet-4-6" };

describe("CF-F: drift (N-33)", () => {
  test.each([
    [100, 100, 0],
    [80, 100, 20],
    [150, 100, 50],
    [0, 100, 100],
  ])("%i estimated and %i billed are %i percent", (estimated, actual, percent) => {
    expect(toDriftPercent(estimated, actual)).toBe(percent);
  });

  test.each([
    [100, 0],
    [0, 0],
    [100, -1],
    [100, Number.NaN],
    [Number.NaN, 100],
  ])("%d against %d is no drift", (estimated, actual) => {
    expect(toDriftPercent(estimated, actual)).toBeNull();
  });

  test("a series counts how many were at most each bucket's end", () => {
    const series = [0.5, 2, 21, 400].reduce(addDrift, openDriftSeries(labels, "bill"));
    expect(series).toEqual({
      labels,
      against: "bill",
      observations: 4,
      sumPercent: 423.5,
      percentMax: 400,
      atMost: [1, 2, 2, 2, 2, 2, 3, 3, 3, 3],
    });
  });
});
