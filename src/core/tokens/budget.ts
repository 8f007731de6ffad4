// How much of the window is in use, by which tier, and how much is reserved.
import type { ModelFacts } from "../models/model-facts.ts";
import { StrataError } from "../strata-error.ts";

/** Tiers in request order; see docs/glossary.md. */
export const tiers = ["T0", "T1", "T2", "T3", "T4", "T5"] as const;

export type Tier = (typeof tiers)[number];
export type TokensPerTier = Readonly<Record<Tier, number>>;

/** A model's size limits. A provider may accept less input than its window. */
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
  /** What the caller asked to reserve. `notes` explains where `reserves` differs. */
  readonly asked: Reserves;
  /** The prompt's limit: the window without the reserves, at most the input limit. */
  readonly availableTokens: number;
  readonly usedTokens: TokensPerTier & { readonly total: number };
  /** Negative when over budget. */
  readonly remainingTokens: number;
  /** Each change from the caller's request, with its reason. Empty if there was none. */
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

/** A budget for one call. A new model or new content needs a new budget; nothing carries over. */
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

/** A reserve above the longest reply is wasted; reserves above half the window leave no room to work. */
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
      `${name} is ${value}, which is not a token count`,
      "give a whole number from 0",
    );
  }
}
