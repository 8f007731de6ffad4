import { expect, test } from "vitest";
import { planBudget } from "./budget.ts";
import { planCuts } from "./plan-cuts.ts";

const used = { T0: 9000, T1: 6000, T2: 3000, T3: 50_000, T4: 1500, T5: 500 };
const budget = planBudget(
  { windowTokens: 200_000, inputTokensMax: 200_000, outputTokensMax: null },
  used,
);
const cuttable = { memoryTokens: 2000, turnTokens: [20_000, 10_000, 5000, 5000, 5000, 5000] };

test("nothing is cut when all of it fits", () => {
  expect(planCuts(budget, cuttable, 70_000)).toEqual({
    memoryTokens: 0,
    turns: 0,
    turnTokens: 0,
    usedTokens: 70_000,
    outcome: "not-needed",
  });
});

test("memory goes first", () => {
  expect(planCuts(budget, cuttable, 68_000)).toMatchObject({
    memoryTokens: 2000,
    turns: 0,
    usedTokens: 68_000,
    outcome: "enough",
  });
});

test("then the oldest turns, as few as it takes", () => {
  expect(planCuts(budget, cuttable, 40_000)).toEqual({
    memoryTokens: 2000,
    turns: 2,
    turnTokens: 30_000,
    usedTokens: 38_000,
    outcome: "enough",
  });
});

test("tools, system, the current message and the last three turns are never cut", () => {
  expect(planCuts(budget, cuttable, 10_000)).toEqual({
    memoryTokens: 2000,
    turns: 3,
    turnTokens: 35_000,
    usedTokens: 33_000,
    outcome: "not-enough",
  });
  expect(planCuts(budget, { memoryTokens: 0, turnTokens: [20_000, 20_000] }, 0)).toMatchObject({
    turns: 0,
    outcome: "not-enough",
  });
});
