import { expect, test } from "vitest";
import { counted, dollars, left, share, short, span } from "./figures.ts";

test("dollars are as exact as a person can use", () => {
  const amounts = [0, 0.000_01, 0.0042, 0.0693, 0.999, 1, 13.239, 1402.384, -0.97];
  expect(amounts.map(dollars)).toEqual([
    "$0.00",
    "< $0.0001",
    "$0.0042",
    "$0.069",
    "$0.999",
    "$1.00",
    "$13.24",
    "$1,402.38",
    "−$0.970",
  ]);
  expect(dollars(null)).toBe("unknown");
});

test("counts have their unit, and short ones a letter", () => {
  expect([counted(1, "call"), counted(12_010, "token"), counted(0, "miss", "misses")]).toEqual([
    "1 call",
    "12,010 tokens",
    "0 misses",
  ]);
  expect([950, 12_400, 999_960, 1_240_000, 128_000].map(short)).toEqual([
    "950",
    "12.4k",
    "1M",
    "1.2M",
    "128k",
  ]);
});

test("shares of nothing are a dash, and spans end in minutes", () => {
  expect([share(0.8123), share(null)]).toEqual(["81.2 %", "–"]);
  expect([8400, 1_080_000, 7_500_000, 273_600_000].map(span)).toEqual([
    "8.4 s",
    "18 min",
    "2 h 5 min",
    "3 d 4 h",
  ]);
  expect([192_000, 3_240_000, -5].map(left)).toEqual(["3:12", "54 min", "0:00"]);
});
