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
  const parts: Part[] = [
    [calls.uncachedTokens, rates.inputPicoUsd],
    [calls.generatedTokens, rates.outputPicoUsd],
  ];
  if (calls.readTokens > 0) {
    if (rates.readPicoUsd === null) return null;
    parts.push([calls.readTokens, rates.readPicoUsd]);
  }
  for (const lifetime of lifetimes) {
    const tokens = calls.writtenTokens[lifetime];
    if (tokens === 0) continue;
    const rate = rates.writePicoUsd[lifetime] ?? null;
    if (rate === null) return null;
    parts.push([tokens, rate]);
  }
  return sumOf(parts);
}

/** Prices every prompt token at the plain input rate. Without a cache, nothing would be kept warm. */
export function priceUncached(calls: AlikeCalls, model: Priced): bigint | null {
  if (calls.isWarm) return 0n;
  const rates = findRates(calls, model);
  if (rates === null) return null;
  let sent = calls.uncachedTokens + calls.readTokens;
  for (const lifetime of lifetimes) sent += calls.writtenTokens[lifetime];
  return sumOf([
    [sent, rates.inputPicoUsd],
    [calls.generatedTokens, rates.outputPicoUsd],
  ]);
}

type Part = readonly [tokens: number, picoUsd: bigint];

/** In plain numbers where these are exact, which is nearly always. */
function sumOf(parts: readonly Part[]): bigint {
  let total = 0;
  for (const [tokens, rate] of parts) total += tokens * Number(rate);
  if (total <= Number.MAX_SAFE_INTEGER) return BigInt(total);
  return parts.reduce((sum, [tokens, rate]) => sum + times(tokens, rate), 0n);
}

/** The rates of the latest questions: thousands of groups share a few. */
const ratesKnown = new WeakMap<Priced["prices"], Map<string, Rates>>();

function findRates({ startMs, promptTokens }: AlikeCalls, { id, prices }: Priced): Rates | null {
  if (prices.kind === "unpriced") return null;
  const known = ratesKnown.get(prices) ?? new Map<string, Rates>();
  ratesKnown.set(prices, known);
  const key = `${startMs} ${promptTokens}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const applied = ratesAt(prices.rows, startMs, promptTokens);
  assert(applied !== null, `${id} is priced but has no rates`);
  if (known.size >= ratesMax) known.clear();
  known.set(key, applied.rates);
  return applied.rates;
}

const ratesMax = 1000;
