// How much of the window is spoken for, by what, and what may be given up.
import type { ModelFacts } from "../models/model-facts.ts";
import { StrataError } from "../strata-error.ts";

/** Tiers in the order of the request; see docs/glossary.md. */
export const tiers = ["T0", "T1", "T2", "T3", "T4", "T5"] as const;

export type Tier = (typeof tiers)[number];
export type TokensPerTier = Readonly<Record<Tier, number>>;

/** What a model's facts say about sizes. A provider may take less input than its window is long. */
export type BudgetLimits = Pick<ModelFacts, "windowTokens" | "inputTokensMax" | "outputTokensMax">;

export interface Reserves {
  /** Kept free for the reply. */
  readonly responseTokens: number;
  /** Kept free for tool results of this turn. */
  readonly toolTokens: number;
}

export const defaultReserves: Reserves = { responseTokens: 8_000, toolTokens: 16_000 };

export interface TokenBudget {
  readonly windowTokens: number;
  readonly reserves: Reserves;
  /** What the caller wanted to reserve; `notes` say where `reserves` differs. */
  readonly asked: Reserves;
  /** What a prompt may take: the window without the reserves, and no more than the input limit. */
  readonly availableTokens: number;
  readonly usedTokens: TokensPerTier & { readonly total: number };
  /** Negative when over budget. */
  readonly remainingTokens: number;
  /** What was changed from what the caller asked, and why. Empty when nothing was. */
  readonly notes: readonly BudgetNote[];
}

export type BudgetNote =
  | {
      readonly kind: "response-reserve-above-output-limit";
      readonly asked: number;
      readonly given: number;
    }
  | { readonly kind: "reserves-above-half-window"; readonly asked: number; readonly given: number };

export function totalTokens(used: TokensPerTier): number {
  return tiers.reduce((sum, tier) => sum + used[tier], 0);
}

/** A value for one call. A change of model or of the content makes a new one; nothing is carried over. */
export function planBudget(
  limits: BudgetLimits,
  used: TokensPerTier,
  asked: Reserves = defaultReserves,
): TokenBudget {
  checkCounts({
    ...used,
    ...asked,
    windowTokens: limits.windowTokens,
    inputTokensMax: limits.inputTokensMax,
  });
  if (limits.windowTokens === 0) {
    throw new StrataError("input-invalid", "the window is 0 tokens", "give the model's window");
  }
  const notes: BudgetNote[] = [];
  const reserves = fitReserves(limits, asked, notes);
  const promptTokensMax = Math.min(
    limits.windowTokens - reserves.responseTokens,
    limits.inputTokensMax,
  );
  const availableTokens = promptTokensMax - reserves.toolTokens;
  const total = totalTokens(used);
  return {
    windowTokens: limits.windowTokens,
    reserves,
    asked,
    availableTokens,
    usedTokens: { ...used, total },
    remainingTokens: availableTokens - total,
    notes,
  };
}

/** The same reserves, as they were first asked for, on another model with its own counts. */
export function moveBudget(
  budget: TokenBudget,
  limits: BudgetLimits,
  used: TokensPerTier,
): TokenBudget {
  return planBudget(limits, used, budget.asked);
}

/** A reserve larger than the longest reply is wasted; reserves above half the window leave no room to work. */
function fitReserves(limits: BudgetLimits, asked: Reserves, notes: BudgetNote[]): Reserves {
  let { responseTokens, toolTokens } = asked;
  if (limits.outputTokensMax !== null && responseTokens > limits.outputTokensMax) {
    notes.push({
      kind: "response-reserve-above-output-limit",
      asked: responseTokens,
      given: limits.outputTokensMax,
    });
    responseTokens = limits.outputTokensMax;
  }
  const both = responseTokens + toolTokens;
  const half = Math.floor(limits.windowTokens / 2);
  if (both > half) {
    notes.push({ kind: "reserves-above-half-window", asked: both, given: half });
    responseTokens = Math.floor((responseTokens * half) / both);
    toolTokens = half - responseTokens;
  }
  return { responseTokens, toolTokens };
}

function checkCounts(counts: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(counts)) {
    if (Number.isSafeInteger(value) && value >= 0) continue;
    throw new StrataError(
      "input-invalid",
      `${name} is ${value} tokens`,
      "token counts are whole numbers from 0",
    );
  }
}
