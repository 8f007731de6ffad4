// What to drop when a budget does not fit: memory first, then the oldest turns. Never tools, system,
// the current message or recent turns.
import { assert } from "../assert.ts";
import type { TokenBudget } from "./budget.ts";

export interface Cuttable {
  /** Memory injected into the prompt, part of T2 or T5. */
  readonly memoryTokens: number;
  /** T3, oldest turn first. */
  readonly turnTokens: readonly number[];
}

export interface CutPlan {
  /** 0 or all of it: half a memory is useless. */
  readonly memoryTokens: number;
  /** How many turns to compact, oldest first. */
  readonly turns: number;
  readonly turnTokens: number;
  /** The total after the cuts, before a summary is added. */
  readonly usedTokens: number;
  /** "not-needed" cuts nothing; "not-enough" cuts everything allowed and is still above the target. */
  readonly outcome: "not-needed" | "enough" | "not-enough";
}

/** The last turns stay complete: the current message refers to them. */
export const recentTurnsMin = 3;

/** Cuts only enough to bring the total down to `targetTokens`. */
export function planCuts(budget: TokenBudget, cuttable: Cuttable, targetTokens: number): CutPlan {
  const turnsTotal = cuttable.turnTokens.reduce((sum, tokens) => sum + tokens, 0);
  assert(
    turnsTotal + cuttable.memoryTokens <= budget.usedTokens.total,
    "more to cut than the budget counts",
  );
  let usedTokens = budget.usedTokens.total;
  const plan = { memoryTokens: 0, turns: 0, turnTokens: 0 };
  if (usedTokens <= targetTokens) return { ...plan, usedTokens, outcome: "not-needed" };
  plan.memoryTokens = cuttable.memoryTokens;
  usedTokens -= cuttable.memoryTokens;
  const foldable = Math.max(0, cuttable.turnTokens.length - recentTurnsMin);
  for (const tokens of cuttable.turnTokens.slice(0, foldable)) {
    if (usedTokens <= targetTokens) break;
    plan.turns += 1;
    plan.turnTokens += tokens;
    usedTokens -= tokens;
  }
  return { ...plan, usedTokens, outcome: usedTokens <= targetTokens ? "enough" : "not-enough" };
}
