// The calls of a window, grouped so that one price applies to all calls of a group.
import type { ResultRow } from "../edge/stores/sql/database.ts";
import { lifetimes, type Lifetime } from "../core/message/usage.ts";
import { isPeak, type PeakHours } from "../core/models/peak-hours.ts";
import { callFacts, withBands } from "../edge/stores/rollups/call-facts.ts";
import type { Fact } from "../edge/stores/rollups/fact.ts";
import {
  areStoredBands,
  toAlike,
  type Alike,
  type PriceBands,
} from "../edge/stores/rollups/price-bands.ts";
import { integer, text } from "../edge/stores/sql/read-row.ts";
import { moneyOf } from "../edge/stores/sql/sums.ts";
import type { Label, LedgerSnapshot, Question } from "./analysis.ts";
import { readSums } from "./read-sums.ts";
import type { AlikeCalls } from "./reprice.ts";
import type { TimeWindow } from "./time-window.ts";

export interface PricedCalls extends AlikeCalls {
  readonly label: Label;
  readonly model: string;
  readonly callCount: number;
  readonly hasUsage: boolean;
  /** Everything billed for these calls, as recorded. */
  readonly costPicoUsd: bigint;
  /** Whether the cost is known and covers exactly the tokens above, with no discarded attempts in it. */
  readonly isCostOfUsage: boolean;
}

/** Few calls have discarded attempts, so a second query finds them and their sums are subtracted from the rest. */
export async function readAlike(
  ledger: LedgerSnapshot,
  question: Question,
  bands: PriceBands,
): Promise<readonly PricedCalls[]> {
  const all = await readGroups(ledger, question, bands, callFacts.calls);
  const retried = await readGroups(ledger, question, bands, callFacts.retried);
  const parts = new Map(retried.map(({ key, calls }) => [key, calls]));
  const rest = all.map(({ key, calls }) => {
    const part = parts.get(key);
    return part === undefined ? calls : minus(calls, part);
  });
  return [
    ...rest.filter(({ callCount }) => callCount > 0),
    ...retried.map(({ calls }) => ({ ...calls, isCostOfUsage: false })),
  ];
}

interface Group {
  readonly key: string;
  readonly calls: PricedCalls;
}

const priceColumns = ["call_count", "cost_0", "cost_1", "uncached", "read_tokens", "output"].concat(
  lifetimes.map((lifetime) => `written_${lifetime}`),
);

async function readGroups(
  ledger: LedgerSnapshot,
  question: Question,
  bands: PriceBands,
  fact: Fact,
): Promise<readonly Group[]> {
  const rows = await readSums(ledger, question, {
    fact: areStoredBands(bands) ? fact : withBands(fact, bands),
    dims: ["model", "alike"],
    columns: priceColumns,
  });
  return rows.map(([label, row]) => {
    const alike = toAlike(integer(row, "alike"));
    const calls = { ...toPriced(row, alike), ...standIn(alike, bands, question.window), label };
    return { key: `${integer(row, "alike")} ${text(row, "model")} ${String(label)}`, calls };
  });
}

function minus(all: PricedCalls, part: PricedCalls): PricedCalls {
  const written = (lifetime: Lifetime): number =>
    all.writtenTokens[lifetime] - part.writtenTokens[lifetime];
  return {
    ...all,
    callCount: all.callCount - part.callCount,
    costPicoUsd: all.costPicoUsd - part.costPicoUsd,
    uncachedTokens: all.uncachedTokens - part.uncachedTokens,
    readTokens: all.readTokens - part.readTokens,
    writtenTokens: forLifetimes(written),
    generatedTokens: all.generatedTokens - part.generatedTokens,
  };
}

function forLifetimes(tokens: (lifetime: Lifetime) => number): PricedCalls["writtenTokens"] {
  return {
    "5m": tokens("5m"),
    "30m": tokens("30m"),
    "1h": tokens("1h"),
    "12h": tokens("12h"),
    "24h": tokens("24h"),
  };
}

const msPerHour = 3_600_000;

/** The first time from `startMs` on, in whole hours, that is in these peaks and in no other. */
function timeInPeaks(startMs: number, peaks: readonly PeakHours[], bits: number): number {
  const fits = (ms: number): boolean =>
    peaks.every((peak, index) => isPeak(peak, ms) === (bits & (2 ** index)) > 0);
  const hour = Math.floor(startMs / msPerHour);
  for (let later = 0; later <= hoursMax; later += 1) {
    const ms = later === 0 ? startMs : (hour + later) * msPerHour;
    if (fits(ms)) return ms;
  }
  return startMs;
}

/** Longer than any run of holidays. */
const hoursMax = 24 * 31;

/** A prompt length and a time that get the same rates as the calls of the group; cheaper than querying for a real one. */
function standIn(
  { tier, period, peakBits }: Alike,
  { aboveTokens, fromMs, peaks }: PriceBands,
  { startMs }: TimeWindow,
): Pick<PricedCalls, "promptTokens" | "startMs"> {
  const fromPeriodMs = Math.max(startMs, fromMs[period - 1] ?? 0);
  return {
    promptTokens: aboveTokens[tier] ?? (aboveTokens.at(-1) ?? 0) + 1,
    startMs: timeInPeaks(fromPeriodMs, peaks, peakBits),
  };
}

function toPriced(
  row: ResultRow,
  { hasUsage, hasCost, isWarm }: Alike,
): Omit<PricedCalls, "label" | "promptTokens" | "startMs"> {
  return {
    model: text(row, "model"),
    callCount: integer(row, "call_count"),
    hasUsage,
    costPicoUsd: moneyOf(row, "cost"),
    isCostOfUsage: hasCost,
    isWarm,
    uncachedTokens: integer(row, "uncached"),
    readTokens: integer(row, "read_tokens"),
    writtenTokens: forLifetimes((lifetime) => integer(row, `written_${lifetime}`)),
    generatedTokens: integer(row, "output"),
  };
}
