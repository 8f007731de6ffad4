import * as fc from "fast-check";
import { expect, test } from "vitest";
import { cheapCounter } from "./cheap-counter.ts";
import { loadO200k } from "./o200k/counter.ts";

test.each([
  ["", 0],
  ["Hello, world!", 4],
  ["the quick brown fox jumps over the lazy dog", 9],
  ["const total = items.reduce((sum, item) => sum + item.price, 0);", 19],
  ["2026-11-15T09:30:00Z", 15],
  ["你好世界", 4],
])("%j is shown as about %i tokens", (text, tokens) => {
  expect(cheapCounter.count(text)).toBe(tokens);
});

test("on prose and code it is within a sixth of the exact count", async () => {
  const counter = await loadO200k();
  const samples = [
    "Calibration factors multiply stored counts and never rewrite them. ".repeat(20),
    "export function add(left: number, right: number): number {\n  return left + right;\n}\n".repeat(
      20,
    ),
  ];
  for (const sample of samples) {
    const share = cheapCounter.count(sample) / counter.count(sample);
    expect(share).toBeGreaterThan(0.84);
    expect(share).toBeLessThan(1.16);
  }
});

test("more text never counts less", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (left, right) => {
      expect(cheapCounter.count(`${left}\n${right}`)).toBeGreaterThanOrEqual(
        Math.max(cheapCounter.count(left), cheapCounter.count(right)) - 1,
      );
    }),
  );
});
