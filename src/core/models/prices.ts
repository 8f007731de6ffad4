// The price of a model's tokens by day, hour and prompt length, and the rates of one request.
import { lifetimes, type Lifetime } from "../message/usage.ts";
import { StrataError } from "../strata-error.ts";
import { toDay, type Moment } from "./moment.ts";
import { isPeak, parsePeakHours, type PeakHours } from "./peak-hours.ts";
import { parseUsdPerMTok, timesDecimal, toUsdPerMTok } from "./pico-usd.ts";
import * as read from "./read-fields.ts";
import type { Fields } from "../message/fields.ts";

/** Whole pico-dollars per token. */
export interface Rates {
  readonly inputPicoUsd: bigint;
  readonly outputPicoUsd: bigint;
  /** Null: the vendor has no price for reads. */
  readonly readPicoUsd: bigint | null;
  /** Absent: there is no such write. Null: there is one, but its price is not published. */
  readonly writePicoUsd: Readonly<Partial<Record<Lifetime, bigint | null>>>;
}

/** Rates for the whole request if its prompt, including cached parts, is longer than this. */
export interface PriceTier {
  readonly aboveTokens: number;
  readonly rates: Rates;
}

export interface PriceRow {
  /** The first day, UTC. Null for the row that is valid from the start. */
  readonly from: string | null;
  readonly rates: Rates;
  /** Shortest prompt first. */
  readonly tiers: readonly PriceTier[];
  /** The rates outside the peak hours; null if every hour costs the same. The rates above are then those of the peak. */
  readonly offPeak: OffPeak | null;
}

export interface OffPeak extends Pick<PriceRow, "rates" | "tiers"> {
  readonly peak: PeakHours;
}

/** Rows from the earliest on, or why there are none. */
export type Prices =
  | { readonly kind: "priced"; readonly rows: readonly PriceRow[] }
  | { readonly kind: "unpriced"; readonly reason: string };

/** The rates for one request and their origin. */
export interface AppliedRates {
  readonly from: string | null;
  /** The tier's threshold; null for the ordinary rates. */
  readonly aboveTokens: number | null;
  /** Present if these are the rates outside the peak hours. */
  readonly isOffPeak?: true;
  readonly rates: Rates;
}

/** Picks the row by time, the hours by the time of the week, and the tier by the length of the whole prompt. */
export function ratesAt(
  rows: readonly PriceRow[],
  at: Moment,
  promptTokens: number,
): AppliedRates | null {
  const row = rowAt(rows, at);
  if (row === undefined) return null;
  const { offPeak } = row;
  const isOffPeak = offPeak !== null && !isPeak(offPeak.peak, at);
  const { rates, tiers } = isOffPeak ? offPeak : row;
  const tier = tiers.findLast((each) => promptTokens > each.aboveTokens);
  return {
    from: row.from,
    aboveTokens: tier?.aboveTokens ?? null,
    ...(isOffPeak ? { isOffPeak } : {}),
    rates: tier?.rates ?? rates,
  };
}

/** The row in force at a time. A time before every row gets the earliest. */
export function rowAt(rows: readonly PriceRow[], at: Moment): PriceRow | undefined {
  const day = toDay(at);
  return rows.findLast((row) => row.from === null || row.from <= day) ?? rows[0];
}

/** Reads `prices` and `tiers`, or `unpriced`, of a model. */
export function parsePrices(model: Fields, place: string): Prices {
  if ((model["prices"] ?? null) === null) {
    const reason = read.optional(model["unpriced"], `${place}.unpriced`, read.text);
    if (reason !== null) return { kind: "unpriced", reason };
    throw invalid(`${place} has no prices`, "add prices, or unpriced with the reason");
  }
  const rows = read.list(model["prices"], `${place}.prices`, (row, at) =>
    parseRow(row, model["tiers"], at),
  );
  if (rows.length === 0)
    throw invalid(`${place}.prices is empty`, "add a price, or unpriced with the reason");
  rows.forEach((row, index) => {
    const before = rows[index - 1];
    if ((row.from === null) !== (index === 0))
      throw invalid(`${place}.prices[${index}].from is misplaced`, "date every row but the first");
    if (row.from !== null && before?.from != null && before.from >= row.from)
      throw invalid(`${place}.prices are not in date order`, "put the earliest row first");
  });
  return { kind: "priced", rows };
}

/** The same prices, with every rate multiplied, as for a regional endpoint. */
export function timesPrices(prices: Prices, factor: number, place: string): Prices {
  return factor === 1
    ? prices
    : mapRates(prices, (rates) => timesRates(rates, factor, factor, place));
}

/**
 * Removes the prices of writes that a route does not take. If the route names no lifetimes, nothing is
 * known about writes.
 */
export function onlyWritesOf(
  prices: Prices,
  taken: readonly { readonly lifetime: Lifetime }[],
): Prices {
  const isTaken = (lifetime: Lifetime): boolean => taken.some((each) => each.lifetime === lifetime);
  if (taken.length === 0 || lifetimes.every(isTaken)) return prices;
  return mapRates(prices, (rates) => {
    const writePicoUsd: Partial<Record<Lifetime, bigint | null>> = {};
    for (const lifetime of lifetimes.filter(isTaken)) {
      const write = rates.writePicoUsd[lifetime];
      if (write !== undefined) writePicoUsd[lifetime] = write;
    }
    return { ...rates, writePicoUsd };
  });
}

function mapRates(prices: Prices, change: (rates: Rates) => Rates): Prices {
  if (prices.kind === "unpriced") return prices;
  return {
    kind: "priced",
    rows: prices.rows.map(({ offPeak, ...row }) => ({
      ...changeAll(row, change),
      offPeak: offPeak === null ? null : changeAll(offPeak, change),
    })),
  };
}

function changeAll<Part extends Pick<PriceRow, "rates" | "tiers">>(
  part: Part,
  change: (rates: Rates) => Rates,
): Part {
  const tiers = part.tiers.map((tier) => ({ ...tier, rates: change(tier.rates) }));
  return { ...part, rates: change(part.rates), tiers };
}

function parseRow(value: unknown, modelTiers: unknown, place: string): PriceRow {
  const known = ["from", "input", "output", "read", "write", "tiers", "offPeak"];
  const row = read.fields(value, place, known);
  const rates: Rates = {
    inputPicoUsd: parseUsdPerMTok(row["input"], `${place}.input`),
    outputPicoUsd: parseUsdPerMTok(row["output"], `${place}.output`),
    readPicoUsd: read.optional(row["read"], `${place}.read`, parseUsdPerMTok),
    writePicoUsd: read.optional(row["write"], `${place}.write`, parseWrites) ?? {},
  };
  const tiers = read.optional(row["tiers"] ?? modelTiers, `${place}.tiers`, (list, at) =>
    read.list(list, at, (tier, tierPlace) => parseTier(tier, rates, tierPlace)),
  );
  return {
    from: read.optional(row["from"], `${place}.from`, read.day),
    rates,
    ...withOffPeak(
      rates,
      (tiers ?? []).toSorted((left, right) => left.aboveTokens - right.aboveTokens),
      row["offPeak"],
      `${place}.offPeak`,
    ),
  };
}

function withOffPeak(
  rates: Rates,
  tiers: PriceRow["tiers"],
  value: unknown,
  place: string,
): Pick<PriceRow, "tiers" | "offPeak"> {
  const given = read.optional(value, place, (each, at) =>
    read.shape(each, at, { peak: parsePeakHours, times: read.multiplier }),
  );
  if (given === null) return { tiers, offPeak: null };
  const { peak, times } = given;
  const cheaper = (part: Rates): Rates => timesRates(part, times, times, place);
  return { tiers, offPeak: { peak, ...changeAll({ rates, tiers }, cheaper) } };
}

function parseWrites(value: unknown, place: string): Rates["writePicoUsd"] {
  const writes: Partial<Record<Lifetime, bigint | null>> = {};
  for (const [name, price] of Object.entries(read.record(value, place))) {
    const lifetime = read.oneOf(name, lifetimes, `${place}.${name}`);
    writes[lifetime] = read.optional(price, `${place}.${name}`, parseUsdPerMTok);
  }
  return writes;
}

function parseTier(value: unknown, rates: Rates, place: string): PriceTier {
  const tier = read.fields(value, place, ["above", "inputTimes", "outputTimes"]);
  const inputTimes = read.multiplier(tier["inputTimes"], `${place}.inputTimes`);
  const outputTimes = read.multiplier(tier["outputTimes"], `${place}.outputTimes`);
  return {
    aboveTokens: read.count(tier["above"], `${place}.above`),
    rates: timesRates(rates, inputTimes, outputTimes, place),
  };
}

function timesRates(rates: Rates, input: number, output: number, place: string): Rates {
  const times = (pico: bigint, factor: number): bigint => {
    const product = timesDecimal(pico, factor);
    if (product === null)
      throw invalid(
        `${place}: ${factor} times $${toUsdPerMTok(pico)} per million tokens has more than 6 decimals`,
        "write the price, or the factor, with fewer decimals",
      );
    return product;
  };
  const writes: Partial<Record<Lifetime, bigint | null>> = {};
  for (const lifetime of lifetimes) {
    const write = rates.writePicoUsd[lifetime];
    if (write !== undefined) writes[lifetime] = write === null ? null : times(write, input);
  }
  return {
    inputPicoUsd: times(rates.inputPicoUsd, input),
    outputPicoUsd: times(rates.outputPicoUsd, output),
    readPicoUsd: rates.readPicoUsd === null ? null : times(rates.readPicoUsd, input),
    writePicoUsd: writes,
  };
}

function invalid(message: string, hint: string): StrataError {
  return new StrataError("config-invalid", message, hint);
}
