// Prices many calls at once: within one price tier and one price row, cost is linear in tokens.
import { assert } from "../core/assert.ts";
import { lifetimes, type Lifetime } from "../core/message/usage.ts";
import { times } from "../core/models/cost.ts";
import type { ModelFacts } from "../core/models/model-facts.ts";
import { ratesAt, type Rates } from "../core/models/prices.ts";

/** Sums over calls of one model that share the price tier, the price row and the buckets in use. */
export interface AlikeCalls {
  readonly uncachedTokens: number;
  readonly readTokens: number;
  readonly writtenTokens: Readonly<Record<Lifetime, number>>;
  readonly generatedTokens: number;
  /** Prompt length and time of any of these calls; all give the same rates. */
  readonly promptTokens: number;
  readonly startMs: number;
  /** Whether these calls only kept or wrote a cache. */
  readonly isWarm: boolean;
}

type Priced = Pick<ModelFacts, "id" | "prices">;

/** Null if the model or a bucket in use has no price. */
export function priceAlike(calls: AlikeCalls, model: Priced): bigint | null {
  const rates = findRates(calls, model);
  if (rates === null) return null;
  let total =
    times(calls.uncachedTokens, rates.inputPicoUsd) +
    times(calls.generatedTokens, rates.outputPicoUsd);
  if (calls.readTokens > 0) {
    if (rates.readPicoUsd === null) return null;
    total += times(calls.readTokens, rates.readPicoUsd);
  }
  for (const lifetime of lifetimes) {
    const tokens = calls.writtenTokens[lifetime];
    const rate = rates.writePicoUsd[lifetime] ?? null;
    if (tokens === 0) continue;
    if (rate === null) return null;
    total += times(tokens, rate);
  }
  return total;
}

/** Prices every prompt token at the plain input rate. Without a cache, nothing would be kept warm. */
export function priceUncached(calls: AlikeCalls, model: Priced): bigint | null {
  if (calls.isWarm) return 0n;
  const written = lifetimes.reduce((sum, lifetime) => sum + calls.writtenTokens[lifetime], 0);
  const rates = findRates(calls, model);
  if (rates === null) return null;
  const sent = calls.uncachedTokens + calls.readTokens + written;
  return times(sent, rates.inputPicoUsd) + times(calls.generatedTokens, rates.outputPicoUsd);
}

function findRates({ startMs, promptTokens }: AlikeCalls, { id, prices }: Priced): Rates | null {
  if (prices.kind === "unpriced") return null;
  const applied = ratesAt(prices.rows, startMs, promptTokens);
  assert(applied !== null, `${id} is priced but has no rates`);
  return applied.rates;
}
