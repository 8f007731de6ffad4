import { expect, test } from "vitest";
import { parseUsdText, ratio, toUsdText } from "./figures.ts";
import { percentile } from "./reliability.ts";

test("money has six digits after the point at the boundary, rounded once (D-11)", () => {
  expect(toUsdText(0n)).toBe("0.000000");
  expect(toUsdText(1_234_567_500_000n)).toBe("1.234568");
  expect(toUsdText(-1_234_567_499_999n)).toBe("-1.234567");
  expect(toUsdText(9_007_199_254_740_993_000_000n)).toBe("9007199254.740993");
});

test("money in events is read exactly, and other text is not money", () => {
  expect(parseUsdText("0.0000125")).toBe(12_500_000n);
  expect(parseUsdText("-2")).toBe(-2_000_000_000_000n);
  for (const text of [null, undefined, 1, "", "1e3", "0.0000000000001", "$1"])
    expect(parseUsdText(text)).toBeNull();
});

test("a share of 0 is unknown", () => {
  expect(ratio(0, 0)).toBeNull();
  expect(ratio(1, 4)).toBe(0.25);
});

test("a percentile is the smallest latency that so many calls do not exceed", () => {
  const all = { latencies: [10, 20, 30], counts: [18, 1, 1] };
  expect(percentile(all, 50)).toBe(10);
  expect(percentile(all, 95)).toBe(20);
  expect(percentile(all, 100)).toBe(30);
  expect(percentile({ latencies: [], counts: [] }, 50)).toBeNull();
});
