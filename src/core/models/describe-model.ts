// A model's facts as plain JSON for people and scripts: dollars per million tokens instead of pico-dollars.
import { lifetimes, type Lifetime } from "../message/usage.ts";
import type { CacheRules } from "./cache-rules.ts";
import { capabilityNames, type CapabilityName } from "./capabilities.ts";
import type { Lifecycle, ModelFacts } from "./model-facts.ts";
import type { Moment } from "./moment.ts";
import { toUsdPerMTok } from "./pico-usd.ts";
import { rowAt, type PriceRow, type Rates } from "./prices.ts";
import type { StoredRules } from "./stored-rules.ts";

export interface ModelDescription
  extends Omit<ModelFacts, "lifecycle" | "capabilities" | "prices" | "cache">, Lifecycle {
  readonly cache: CacheDescription;
  /** What the model can do, by name. */
  readonly can: readonly CapabilityName[];
  /** The price in force. Null if there is none; `unpriced` then has the reason. */
  readonly usdPerMTok: PriceDescription | null;
  readonly unpriced: string | null;
  /** Every dated row, including the one in force. */
  readonly priceRows: readonly PriceDescription[];
  readonly minimumTokens: number | null;
}

export interface CacheDescription extends Omit<CacheRules, "stored"> {
  readonly stored: StoredDescription | null;
}

export interface StoredDescription extends Omit<StoredRules, "storage"> {
  /** Dollars for a million tokens that are kept for an hour. */
  readonly storage: readonly { readonly from: string | null; readonly usdPerMTokHour: number }[];
}

/** Dollars per million tokens as numbers. Null if a price exists but is not published. */
export interface PriceDescription extends RatesDescription {
  readonly from: string | null;
  readonly tiers: readonly (RatesDescription & { readonly aboveTokens: number })[];
  /** Outside the peak hours of this name in peak-hours.json. */
  readonly offPeak?: RatesDescription & { readonly peak: string };
}

/** `write5m`, `write1h` and so on are present if the model has such writes. */
export type RatesDescription = {
  readonly input: number;
  readonly output: number;
  readonly read: number | null;
} & { readonly [Key in `write${Lifetime}`]?: number | null };

/** All facts of a model as plain JSON, with the price in force at a given time. */
export function describeModel(
  facts: ModelFacts,
  { at }: { readonly at: Moment },
): ModelDescription {
  const { lifecycle, capabilities, prices, cache, ...plain } = facts;
  const rows = prices.kind === "priced" ? prices.rows : [];
  const row = rowAt(rows, at);
  return {
    ...plain,
    ...lifecycle,
    cache: { ...cache, stored: cache.stored === null ? null : describeStored(cache.stored) },
    can: capabilityNames.filter((name) => capabilities[name]),
    usdPerMTok: row === undefined ? null : describeRow(row),
    unpriced: prices.kind === "unpriced" ? prices.reason : null,
    priceRows: rows.map(describeRow),
    minimumTokens: cache.minimumTokens,
  };
}

function describeStored({ storage, ...rules }: StoredRules): StoredDescription {
  return {
    ...rules,
    storage: storage.map(({ from, picoUsdPerTokenHour }) => ({
      from,
      usdPerMTokHour: Number(toUsdPerMTok(picoUsdPerTokenHour)),
    })),
  };
}

function describeRow(row: PriceRow): PriceDescription {
  const { offPeak } = row;
  return {
    from: row.from,
    ...(offPeak === null
      ? {}
      : { offPeak: { peak: offPeak.peak.name, ...describeRates(offPeak.rates) } }),
    ...describeRates(row.rates),
    tiers: row.tiers.map((tier) => ({
      aboveTokens: tier.aboveTokens,
      ...describeRates(tier.rates),
    })),
  };
}

function describeRates(rates: Rates): RatesDescription {
  const writes: { [Key in `write${Lifetime}`]?: number | null } = {};
  for (const lifetime of lifetimes) {
    const write = rates.writePicoUsd[lifetime];
    if (write !== undefined) writes[`write${lifetime}` as const] = toNumber(write);
  }
  return {
    input: Number(toUsdPerMTok(rates.inputPicoUsd)),
    output: Number(toUsdPerMTok(rates.outputPicoUsd)),
    read: toNumber(rates.readPicoUsd),
    ...writes,
  };
}

function toNumber(pico: bigint | null): number | null {
  return pico === null ? null : Number(toUsdPerMTok(pico));
}
