import * as fc from "fast-check";
import { expect, test } from "vitest";
import { planBudget, tiers } from "./budget.ts";

const used = { T0: 9000, T1: 6000, T2: 3000, T3: 50_000, T4: 1500, T5: 500 };
const large = { windowTokens: 200_000, inputTokensMax: 200_000, outputTokensMax: 64_000 };

test("a budget says what is used by which tier and what remains", () => {
  expect(planBudget(large, used)).toEqual({
    windowTokens: 200_000,
    reserves: { responseTokens: 8000, toolTokens: 16_000 },
    asked: { responseTokens: 8000, toolTokens: 16_000 },
    availableTokens: 176_000,
    usedTokens: { ...used, total: 70_000 },
    remainingTokens: 106_000,
    notes: [],
  });
});

test("over budget, what remains is negative", () => {
  expect(planBudget({ ...large, windowTokens: 64_000 }, used).remainingTokens).toBe(-30_000);
});

test("a reply longer than the model can give is not reserved, and the budget says so", () => {
  const budget = planBudget({ ...large, outputTokensMax: 4096 }, used);
  expect(budget.reserves).toEqual({ responseTokens: 4096, toolTokens: 16_000 });
  expect(budget.notes).toEqual([
    { kind: "response-reserve-above-output-limit", asked: 8000, given: 4096 },
  ]);
});

test("on a small window the reserves take half, in the proportion asked for", () => {
  const budget = planBudget(
    { windowTokens: 8192, inputTokensMax: 8192, outputTokensMax: null },
    used,
  );
  expect(budget.reserves).toEqual({ responseTokens: 1365, toolTokens: 2731 });
  expect(budget.availableTokens).toBe(4096);
  expect(budget.notes).toEqual([
    { kind: "reserves-above-half-window", asked: 24_000, given: 4096 },
  ]);
});

test("a provider that takes less input than its window is long sets the limit", () => {
  const limits = { windowTokens: 1_050_000, inputTokensMax: 922_000, outputTokensMax: 128_000 };
  expect(planBudget(limits, used).availableTokens).toBe(906_000);
});

test("another model's window gives another budget", () => {
  const asked = { responseTokens: 30_000, toolTokens: 10_000 };
  const small = { windowTokens: 32_000, inputTokensMax: 32_000, outputTokensMax: 8000 };
  expect(planBudget(large, used, asked).reserves).toEqual(asked);
  expect(planBudget(small, used, asked).reserves).toEqual({
    responseTokens: 7111,
    toolTokens: 8889,
  });
});

test("counts that are no counts are refused", () => {
  expect(() => planBudget(large, { ...used, T3: -1 })).toThrow(
    "T3 is -1, which is not a token count",
  );
  expect(() => planBudget(large, { ...used, T3: 0.5 })).toThrow(
    "T3 is 0.5, which is not a token count",
  );
  expect(() => planBudget({ ...large, windowTokens: 0 }, used)).toThrow("the window is 0 tokens");
});

test("reserves, use and remainder always make up the window", () => {
  const tokens = fc.nat(2_000_000);
  const anyUsed = fc.record({
    T0: tokens,
    T1: tokens,
    T2: tokens,
    T3: tokens,
    T4: tokens,
    T5: tokens,
  });
  const anyLimits = fc
    .record({
      windowTokens: fc.integer({ min: 1, max: 2_000_000 }),
      outputTokensMax: fc.option(tokens),
    })
    .map((limits) => ({ ...limits, inputTokensMax: limits.windowTokens }));
  const anyReserves = fc.record({ responseTokens: tokens, toolTokens: tokens });
  fc.assert(
    fc.property(anyLimits, anyUsed, anyReserves, (limits, use, reserves) => {
      const budget = planBudget(limits, use, reserves);
      expect(budget.usedTokens.total).toBe(tiers.reduce((sum, tier) => sum + use[tier], 0));
      expect(
        budget.reserves.responseTokens +
          budget.reserves.toolTokens +
          budget.usedTokens.total +
          budget.remainingTokens,
      ).toBe(limits.windowTokens);
      expect(budget.availableTokens).toBeGreaterThanOrEqual(limits.windowTokens / 2);
      expect(budget.reserves.responseTokens).toBeGreaterThanOrEqual(0);
      expect(budget.reserves.toolTokens).toBeGreaterThanOrEqual(0);
    }),
  );
});
