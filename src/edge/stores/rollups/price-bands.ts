// Which calls have the same price per token: SQL that gives them one number. Stored sums keep calls of different numbers apart.
import { assert } from "../../../core/assert.ts";
import { hashContent } from "../../../core/hash.ts";
import { warmingText } from "../../../core/ledger/gateway-text.ts";
import { lifetimes } from "../../../core/message/usage.ts";
import { builtInCatalogue, listModels } from "../../../core/models/catalogue.ts";
import type { ModelFacts } from "../../../core/models/model-facts.ts";
import type { PeakHours } from "../../../core/models/peak-hours.ts";
import { writeColumns } from "../ledger/turns/call-rows.ts";

/** What changes the price of a call besides its model. */
export interface PriceBands {
  /** Prompt lengths above which a tier begins. */
  readonly aboveTokens: readonly number[];
  /** Times from which other prices apply. */
  readonly fromMs: readonly number[];
  /** Hours of the week that cost more for some models. */
  readonly peaks: readonly PeakHours[];
}

/** The bands of all models: finding out which were called would need another query. */
export function bandsOf(models: readonly Pick<ModelFacts, "prices">[]): PriceBands {
  const rows = models.flatMap(({ prices }) => (prices.kind === "priced" ? prices.rows : []));
  const tokens = rows.flatMap(({ tiers }) => tiers.map(({ aboveTokens }) => aboveTokens));
  const days = rows.flatMap(({ from }) => (from === null ? [] : [Date.parse(from)]));
  return {
    aboveTokens: inOrder(tokens),
    fromMs: inOrder(days),
    peaks: [...new Set(rows.flatMap(({ offPeak }) => offPeak?.peak ?? []))],
  };
}

function inOrder(values: readonly number[]): readonly number[] {
  return [...new Set(values)].toSorted((left, right) => left - right);
}

/** Those that stored sums are told apart by. */
export const storedBands: PriceBands = bandsOf(listModels(builtInCatalogue));

/** Sums stored by other bands are made again. */
export const storedBandsHash: string = hashBands(storedBands);

export function areStoredBands(bands: PriceBands): boolean {
  return hashBands(bands) === storedBandsHash;
}

function hashBands({ aboveTokens, fromMs, peaks }: PriceBands): string {
  return hashContent(JSON.stringify([aboveTokens, fromMs, peaks]));
}

/** The number of a call packs four values: flags, peak hours, the price tier of its prompt, the price period of its time. */
const peaksPlace = 512;
const tokensPlace = 2048;
const periodPlace = 65_536;

export interface Alike {
  readonly hasUsage: boolean;
  readonly hasCost: boolean;
  /** Whether the call only kept or wrote a cache. */
  readonly isWarm: boolean;
  /** A bit for each peak. */
  readonly peakBits: number;
  readonly tier: number;
  readonly period: number;
}

export function toAlike(alike: number): Alike {
  return {
    hasUsage: (alike & 1) > 0,
    hasCost: (alike & 2) > 0,
    isWarm: (alike & 256) > 0,
    peakBits: Math.floor(alike / peaksPlace) % (tokensPlace / peaksPlace),
    tier: Math.floor(alike / tokensPlace) % (periodPlace / tokensPlace),
    period: Math.floor(alike / periodPlace),
  };
}

/** Calls that only kept a cache, of sessions and of the gateway, which says so at the beginning of a text. SQL over `calls c`. */
export const isWarmSql: string = `(c.kind IN ('warm', 'stored') OR (c.client_cost_pico_usd = 0 AND SUBSTR(c.outcome_json, 1, ${warmingText.length}) = '${warmingText}'))`;

/** SQL over `calls c`. */
export function alikeSql(writtenSql: string, { aboveTokens, fromMs, peaks }: PriceBands): string {
  assert(aboveTokens.length < periodPlace / tokensPlace, "more tiers than places for them");
  const prompt = `(c.uncached_tokens + c.read_tokens + ${writtenSql})`;
  const flags = [
    "c.uncached_tokens IS NOT NULL",
    "c.cost_pico_usd IS NOT NULL",
    "c.read_tokens > 0",
    ...lifetimes.map((lifetime) => `c.${writeColumns[lifetime]} > 0`),
    isWarmSql,
  ].map((flag, index) => `CASE WHEN ${flag} THEN ${2 ** index} ELSE 0 END`);
  const tier = placeSql(prompt, "<=", aboveTokens);
  const period = placeSql("c.started_ms", "<", fromMs);
  return `${flags.join(" + ")} + ${tier} * ${tokensPlace} + ${period} * ${periodPlace} + ${peaksSql(peaks)} * ${peaksPlace}`;
}

/** SQL for how many steps a value has passed. Most prompts have passed none, so that case comes first. */
function placeSql(value: string, before: "<=" | "<", steps: readonly number[]): string {
  if (steps.length === 0) return "0";
  const cases = steps.map((step, index) => `WHEN ${value} ${before} ${step} THEN ${index}`);
  return `CASE ${cases.join(" ")} ELSE ${steps.length} END`;
}

/** 1970 began on a Thursday. */
const daySql = "(c.started_ms / 86400000)";
const hourSql = "((c.started_ms / 3600000) % 24)";

function peaksSql(peaks: readonly PeakHours[]): string {
  assert(2 ** peaks.length <= tokensPlace / peaksPlace, "more calendars than places for them");
  const bits = peaks.map((peak, index) => {
    const hours = peak.hoursUtc.map(
      ([from, to]) => `(${hourSql} >= ${from} AND ${hourSql} < ${to})`,
    );
    const except = peak.exceptOn.map((day) => Date.parse(day) / 86_400_000);
    const isOpen = except.length === 0 ? "" : ` AND ${daySql} NOT IN (${except.join(", ")})`;
    return `CASE WHEN (${daySql} + 4) % 7 IN (${peak.weekdays.join(", ")}) AND (${hours.join(" OR ")})${isOpen} THEN ${2 ** index} ELSE 0 END`;
  });
  return bits.length === 0 ? "0" : `(${bits.join(" + ")})`;
}
