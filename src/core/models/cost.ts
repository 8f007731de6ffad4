// The cost of a call: each bucket at its own rate, in whole pico-dollars.
import { isCount } from "../message/fields.ts";
import { withMoneyAsText } from "./pico-usd.ts";
import { assert } from "../assert.ts";
import {
  generatedTokens,
  lifetimes,
  promptTokens,
  type Lifetime,
  type Usage,
} from "../message/usage.ts";
import { StrataError } from "../strata-error.ts";
import type { CacheRules } from "./cache-rules.ts";
import type { ModelFacts } from "./model-facts.ts";
import type { Moment } from "./moment.ts";
import { ratesAt, type AppliedRates, type Rates } from "./prices.ts";

export interface Cost {
  readonly uncachedPicoUsd: bigint;
  readonly readPicoUsd: bigint;
  readonly writePicoUsd: Readonly<Partial<Record<Lifetime, bigint>>>;
  readonly outputPicoUsd: bigint;
  /** Thinking costs the same as other output. */
  readonly reasoningPicoUsd: bigint;
  readonly totalPicoUsd: bigint;
  /** The price row and tier used for all of this. */
  readonly applied: AppliedRates;
}

export interface CostOptions {
  /** The time of the call: prices change. */
  readonly at: Moment;
}

export type PricedModel = Pick<ModelFacts, "id" | "prices">;

/**
 * The cost of one call, or the reason it has none: the model or a non-empty bucket has no price. An
 * unknown lifetime has no price. An invalid token count throws.
 * Sum the costs of calls, never their usages: the tier depends on each prompt alone.
 */
export function findCost(
  usage: Usage,
  model: PricedModel,
  { at }: CostOptions,
): { readonly cost: Cost } | { readonly cost: null; readonly reason: string } {
  const found = findRates(usage, model, at);
  if (found.applied === null) return { cost: null, reason: found.reason };
  const { applied } = found;
  const { rates } = applied;
  const writePicoUsd: Partial<Record<Lifetime, bigint>> = {};
  for (const lifetime of lifetimes) {
    const tokens = usage.cacheWriteTokens[lifetime];
    if (tokens !== undefined)
      writePicoUsd[lifetime] = times(tokens, rates.writePicoUsd[lifetime] ?? 0n);
  }
  return {
    cost: withMoneyAsText({
      uncachedPicoUsd: times(usage.uncachedTokens, rates.inputPicoUsd),
      readPicoUsd: times(usage.cacheReadTokens, rates.readPicoUsd ?? 0n),
      writePicoUsd: withMoneyAsText(writePicoUsd),
      outputPicoUsd: times(usage.outputTokens, rates.outputPicoUsd),
      reasoningPicoUsd: times(usage.reasoningTokens, rates.outputPicoUsd),
      totalPicoUsd: totalAt(usage, rates),
      applied: withMoneyAsText({ ...applied }),
    }),
  };
}

/** The sum alone; null if it is unknown. Every call is priced several times, so this makes nothing else. */
export function findTotal(usage: Usage, model: PricedModel, { at }: CostOptions): bigint | null {
  const { applied } = findRates(usage, model, at);
  return applied === null ? null : totalAt(usage, applied.rates);
}

type FoundRates =
  | { readonly applied: AppliedRates }
  | { readonly applied: null; readonly reason: string };

function findRates(usage: Usage, model: PricedModel, at: Moment): FoundRates {
  checkCounts(usage);
  if (model.prices.kind === "unpriced") return { applied: null, reason: model.prices.reason };
  const applied = ratesAt(model.prices.rows, at, promptTokens(usage));
  assert(applied !== null, `${model.id} is priced but has no rates`);
  const missing = unpricedBucket(usage, applied);
  return missing === null
    ? { applied }
    : { applied: null, reason: `it has no price for ${missing}` };
}

function totalAt(usage: Usage, rates: Rates): bigint {
  let total =
    times(usage.uncachedTokens, rates.inputPicoUsd) +
    times(usage.cacheReadTokens, rates.readPicoUsd ?? 0n) +
    times(generatedTokens(usage), rates.outputPicoUsd);
  for (const lifetime of lifetimes) {
    const tokens = usage.cacheWriteTokens[lifetime];
    if (tokens !== undefined) total += times(tokens, rates.writePicoUsd[lifetime] ?? 0n);
  }
  return total;
}

/** The cost of one call. Throws if the model or a bucket has no price. */
export function costOf(usage: Usage, model: PricedModel, options: CostOptions): Cost {
  const found = findCost(usage, model, options);
  if (found.cost !== null) return found.cost;
  throw new StrataError(
    "model-unpriced",
    `${model.id} cannot be priced: ${found.reason}`,
    "add its price in the configuration, or ask for tokens instead of dollars",
  );
}

/** What caching saved: the whole prompt at the plain input rate, minus the cost. Negative if writes were wasted. */
export function savingsOverNoCache(usage: Usage, model: PricedModel, options: CostOptions): bigint {
  const { totalPicoUsd } = costOf(usage, model, options);
  return costOf(withoutCache(usage), model, options).totalPicoUsd - totalPicoUsd;
}

/** The same, or null if the cost is unknown. */
export function findSavings(usage: Usage, model: PricedModel, options: CostOptions): bigint | null {
  const cost = findTotal(usage, model, options);
  const without = cost === null ? null : findTotal(withoutCache(usage), model, options);
  return without === null || cost === null ? null : without - cost;
}

export function withoutCache(usage: Usage): Usage {
  return {
    uncachedTokens: promptTokens(usage),
    cacheReadTokens: 0,
    cacheWriteTokens: {},
    outputTokens: generatedTokens(usage),
    reasoningTokens: 0,
  };
}

/** What caching saved, in tokens at the plain input rate: cheap reads, minus what writes cost more. Below 0 if writes were wasted. */
export function savedTokens(
  { cacheReadTokens, cacheWriteTokens }: Usage,
  { readMultiplier, lifetimes: offered }: Pick<CacheRules, "readMultiplier" | "lifetimes">,
): number {
  const surcharge = offered.reduce(
    (sum, { lifetime, writeMultiplier }) =>
      sum + (cacheWriteTokens[lifetime] ?? 0) * ((writeMultiplier ?? 1) - 1),
    0,
  );
  return Math.round(cacheReadTokens * (1 - (readMultiplier ?? 1)) - surcharge);
}

/** The first non-empty bucket without a price. */
function unpricedBucket(usage: Usage, { rates }: AppliedRates): string | null {
  if (usage.cacheReadTokens > 0 && rates.readPicoUsd === null) return "cache reads";
  for (const [name, tokens] of Object.entries(usage.cacheWriteTokens)) {
    const lifetime = lifetimes.find((each) => each === name);
    const price = lifetime === undefined ? null : (rates.writePicoUsd[lifetime] ?? null);
    if (tokens > 0 && price === null) return `cache writes of ${name}`;
  }
  return null;
}

/** Usages come from replies and files. An invalid count must not become money. */
function checkCounts(usage: Usage): void {
  const { uncachedTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = usage;
  const isValid =
    isCount(uncachedTokens) &&
    isCount(cacheReadTokens) &&
    isCount(outputTokens) &&
    isCount(usage.reasoningTokens) &&
    Object.values(cacheWriteTokens).every(isCount) &&
    isCount(promptTokens(usage)) &&
    isCount(generatedTokens(usage));
  if (!isValid) throw wrongCount(usage);
}

function wrongCount(usage: Usage): StrataError {
  const counts: readonly (readonly [string, unknown])[] = [
    ["uncachedTokens", usage.uncachedTokens],
    ["cacheReadTokens", usage.cacheReadTokens],
    ...Object.entries(usage.cacheWriteTokens).map(
      ([lifetime, tokens]) => [`cacheWriteTokens.${lifetime}`, tokens] as const,
    ),
    ["outputTokens", usage.outputTokens],
    ["reasoningTokens", usage.reasoningTokens],
    ["prompt as a whole", promptTokens(usage)],
    ["output as a whole", generatedTokens(usage)],
  ];
  const [name, value] = counts.find(([, tokens]) => !isCount(tokens)) ?? [];
  return new StrataError(
    "input-invalid",
    `the usage's ${name} is ${String(value)}, which is not a token count`,
    "give a whole number from 0",
  );
}

export function times(tokens: number, picoPerToken: bigint): bigint {
  return BigInt(tokens) * picoPerToken;
}
