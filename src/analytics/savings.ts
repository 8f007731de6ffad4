// What the same tokens would have cost without a cache, on another model, and what the gateway's optimising changed. Savings can be
// negative.
import { listModels } from "../core/models/catalogue.ts";
import { findModel, resolveModel } from "../core/models/resolve-model.ts";
import type { ModelFacts } from "../core/models/model-facts.ts";
import { StrataError } from "../core/strata-error.ts";
import { readAlike, type PricedCalls } from "./alike-calls.ts";
import { toLazyRow, type Analysis, type AnalyticsWorld, type Question } from "./analysis.ts";
import { describeArms } from "./arms/describe-arms.ts";
import { readArms, type ArmsFigures } from "./arms/read-arms.ts";
import { bandsOf } from "../edge/stores/rollups/price-bands.ts";
import { refuse } from "./analytics-error.ts";
import { toUsdText } from "./figures.ts";
import { callGroups } from "./group-keys.ts";
import { priceAlike, priceUncached } from "./reprice.ts";

export interface SavingsFigures {
  readonly call_count: number;
  readonly no_cache: Comparison;
  /** Null without a baseline. */
  readonly baseline: Comparison | null;
  /** Conversations of other programs that were optimised, beside those that were held out. Null where there are none. */
  readonly arms: ArmsFigures | null;
}

/** Both sides cover the same calls and the same tokens. */
export interface Comparison {
  readonly model: string | null;
  readonly cost_usd: string;
  readonly actual_cost_usd: string;
  readonly saved_usd: string;
  /** Saved ÷ cost_usd; null if that is 0. */
  readonly saved_share: number | null;
  readonly compared_call_count: number;
  /** Calls left out because one side has no price for their tokens. */
  readonly unpriced_call_count: number;
  readonly is_partial: boolean;
  readonly pricing_version: string | null;
}

export const savings: Analysis<SavingsFigures> = {
  summary: "What the same tokens would have cost without a cache, or on another model",
  groupBys: callGroups,
  isForKeys: true,
  orders: ["saved_usd", "call_count"],
  takes: ["baseline"],
  async ask(ledger, question, { catalogue }) {
    const baseline = findBaseline(question, catalogue);
    const all = await readAlike(ledger, question, bandsOf(listModels(catalogue)));
    const arms = await readArms(ledger, question);
    const models = new Map(
      [...new Set(all.map(({ model }) => model))].map((name) => [
        name,
        findModel(name, catalogue)?.facts ?? null,
      ]),
    );
    const modelOf = (calls: PricedCalls): ModelFacts | null => models.get(calls.model) ?? null;
    const rows = [...Map.groupBy(all, ({ label }) => label)].map(([label, calls]) => {
      const noCache = compare(calls, modelOf, modelOf, priceUncached);
      const other = baseline === null ? null : compare(calls, modelOf, () => baseline, priceAlike);
      const { otherPicoUsd, actualPicoUsd } = other ?? noCache;
      const exact = { saved_usd: otherPicoUsd - actualPicoUsd };
      return toLazyRow<SavingsFigures>(label, exact, () => ({
        call_count: calls.reduce((sum, each) => sum + countOf(each), 0),
        no_cache: toComparison(noCache, null, latestOf(calls.map(modelOf))),
        baseline:
          other === null ? null : toComparison(other, baseline?.id ?? null, latestOf([baseline])),
        arms: arms.get(label) ?? null,
      }));
    });
    return { rows, notes: [...notesOf(models), ...describeArms(arms)] };
  },
};

function findBaseline(
  { baseline }: Question,
  catalogue: AnalyticsWorld["catalogue"],
): ModelFacts | null {
  if (baseline === null) return null;
  try {
    return resolveModel(baseline, catalogue).facts;
  } catch (error) {
    if (!(error instanceof StrataError)) throw error;
    throw refuse("unknown_baseline_model", error.message, error.hint);
  }
}

interface Sums {
  readonly otherPicoUsd: bigint;
  readonly actualPicoUsd: bigint;
  readonly comparedCount: number;
  readonly unpricedCount: number;
}

type ModelOf = (calls: PricedCalls) => ModelFacts | null;

function compare(
  groups: readonly PricedCalls[],
  modelOf: ModelOf,
  otherOf: ModelOf,
  price: typeof priceAlike,
): Sums {
  let [otherSum, actualSum, comparedCount, unpricedCount] = [0n, 0n, 0, 0];
  for (const calls of groups) {
    if (!calls.hasUsage) continue;
    const other = otherOf(calls);
    const otherPicoUsd = other === null ? null : price(calls, other);
    const actualPicoUsd = actualOf(calls, modelOf(calls));
    if (otherPicoUsd === null || actualPicoUsd === null) {
      unpricedCount += countOf(calls);
      continue;
    }
    otherSum += otherPicoUsd;
    actualSum += actualPicoUsd;
    comparedCount += countOf(calls);
  }
  return { otherPicoUsd: otherSum, actualPicoUsd: actualSum, comparedCount, unpricedCount };
}

/** Calls of turns. The cost of keeping a cache warm lowers what it saved. */
function countOf({ callCount, isWarm }: PricedCalls): number {
  return isWarm ? 0 : callCount;
}

/** The billed cost; computed again from the tokens if the bill includes discarded attempts. */
function actualOf(calls: PricedCalls, model: ModelFacts | null): bigint | null {
  if (calls.isCostOfUsage) return calls.costPicoUsd;
  return model === null ? null : priceAlike(calls, model);
}

function toComparison(sums: Sums, model: string | null, version: string | null): Comparison {
  const { otherPicoUsd, actualPicoUsd, comparedCount, unpricedCount } = sums;
  const saved = otherPicoUsd - actualPicoUsd;
  return {
    model,
    cost_usd: toUsdText(otherPicoUsd),
    actual_cost_usd: toUsdText(actualPicoUsd),
    saved_usd: toUsdText(saved),
    // Divided as bigint, to ten digits: both sides can exceed the safe integers.
    saved_share: otherPicoUsd === 0n ? null : Number((saved * 10n ** 10n) / otherPicoUsd) / 1e10,
    compared_call_count: comparedCount,
    unpriced_call_count: unpricedCount,
    is_partial: unpricedCount > 0,
    pricing_version: version,
  };
}

/** The latest day on which a price of these models was checked. */
function latestOf(models: readonly (ModelFacts | null)[]): string | null {
  const days = models.flatMap((model) => (model === null ? [] : [model.checkedOn]));
  return days.toSorted().at(-1) ?? null;
}

function notesOf(models: ReadonlyMap<string, ModelFacts | null>): readonly string[] {
  const unknown = [...models].flatMap(([name, facts]) => (facts === null ? [name] : []));
  return unknown.length === 0
    ? []
    : [
        `unknown models: ${unknown.toSorted().join(", ")}; their calls are not compared without a cache`,
      ];
}
