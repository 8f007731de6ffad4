// The calls of a window, grouped so that one price applies to all calls of a group.
import { assert } from "../core/assert.ts";
import { lifetimes, type Lifetime } from "../core/message/usage.ts";
import { writeColumns } from "../edge/stores/ledger/turns/call-rows.ts";
import type { ResultRow } from "../edge/stores/sql/database.ts";
import { integer, text } from "../edge/stores/sql/read-row.ts";
import type { Label, LedgerSnapshot, Question } from "./analysis.ts";
import { sumSql, writtenSql } from "./figures.ts";
import { moneyOf, moneySums } from "../edge/stores/sql/sums.ts";
import { endsOf, fromCalls, keyOf, labelOf } from "./group-keys.ts";
import { isPeak, type PeakHours } from "../core/models/peak-hours.ts";
import type { AlikeCalls, PriceSteps } from "./reprice.ts";
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
  steps: PriceSteps,
): Promise<readonly PricedCalls[]> {
  const all = await readGroups(ledger, question, steps, "");
  const retried = await readGroups(ledger, question, steps, `AND ${hasDiscarded}`);
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

/** Matches the text that call-text.ts writes. The index calls_discarded covers exactly these calls. */
const hasDiscarded = `SUBSTR(c.outcome_json, 1, 15) = '{"discarded":[{'`;

interface Group {
  readonly key: string;
  readonly calls: PricedCalls;
}

async function readGroups(
  { query }: LedgerSnapshot,
  { groupBy, window }: Question,
  steps: PriceSteps,
  condition: string,
): Promise<readonly Group[]> {
  const key = keyOf(groupBy);
  const prompt = `(c.uncached_tokens + c.read_tokens + ${writtenSql})`;
  const flags = [
    "c.uncached_tokens IS NOT NULL",
    "c.cost_pico_usd IS NOT NULL",
    "c.read_tokens > 0",
    ...lifetimes.map((lifetime) => `c.${writeColumns[lifetime]} > 0`),
    "c.kind IN ('warm', 'stored')",
  ].map((flag, index) => `CASE WHEN ${flag} THEN ${2 ** index} ELSE 0 END`);
  const places = `${placeSql(prompt, "<=", steps.aboveTokens)} * ${tokensPlace} + ${placeSql("c.started_ms", "<", steps.fromMs)} * ${daysPlace} + ${peaksSql(steps.peaks)} * ${peaksPlace}`;
  const rows = await query(
    `SELECT ${key.calls} AS grp, c.model AS model, ${flags.join(" + ")} + ${places} AS alike, COUNT(*) AS call_count, ${moneySums("c.cost_pico_usd", "cost")},
      ${tokenColumns.join(", ")}
    ${fromCalls(key)} ${condition} GROUP BY 1, 2, 3`,
    endsOf(window),
  );
  return rows.map((row) => ({
    key: JSON.stringify([row["grp"], row["model"], row["alike"]]),
    calls: { ...toPriced(row), ...standIn(row, steps, window), label: labelOf(row, key) },
  }));
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

const tokenColumns: readonly string[] = [
  sumSql("c.uncached_tokens", "uncached"),
  sumSql("c.read_tokens", "read_tokens"),
  ...lifetimes.map((lifetime) => sumSql(`c.${writeColumns[lifetime]}`, `written_${lifetime}`)),
  sumSql("c.output_tokens + c.reasoning_tokens", "output"),
];

/** The group number of a call packs four values: flags, peak hours, the price tier of its prompt, the price period of its day. */
const peaksPlace = 512;
const tokensPlace = 2048;
const daysPlace = 524_288;

/** SQL for how many steps a value has passed. Most values have passed none, so that case comes first. */
function placeSql(value: string, before: "<=" | "<", steps: readonly number[]): string {
  if (steps.length === 0) return "0";
  const cases = steps.map((step, index) => `WHEN ${value} ${before} ${step} THEN ${index}`);
  return `CASE ${cases.join(" ")} ELSE ${steps.length} END`;
}

/** SQL for the peaks in which a call was made, a bit for each. */
function peaksSql(peaks: readonly PeakHours[]): string {
  assert(2 ** peaks.length <= tokensPlace / peaksPlace, "more calendars than places for them");
  const bits = peaks.map((peak, index) => {
    const hours = peak.hoursUtc.map(
      ([from, to]) => `(${hourSql} >= ${from} AND ${hourSql} < ${to})`,
    );
    const except = peak.exceptOn.map((day) => Date.parse(day) / msPerDay);
    const isOpen = except.length === 0 ? "" : ` AND ${daySql} NOT IN (${except.join(", ")})`;
    return `CASE WHEN (${daySql} + 4) % 7 IN (${peak.weekdays.join(", ")}) AND (${hours.join(" OR ")})${isOpen} THEN ${2 ** index} ELSE 0 END`;
  });
  return bits.length === 0 ? "0" : `(${bits.join(" + ")})`;
}

const msPerDay = 86_400_000;
const msPerHour = 3_600_000;
/** 1970 began on a Thursday. */
const daySql = `(c.started_ms / ${msPerDay})`;
const hourSql = `((c.started_ms / ${msPerHour}) % 24)`;

/** The first time from `startMs` on, in whole hours, that is in these peaks and in no other. */
function timeInPeaks(startMs: number, peaks: readonly PeakHours[], bits: number): number {
  const fits = (ms: number): boolean =>
    peaks.every((peak, index) => isPeak(peak, ms) === (bits & (2 ** index)) > 0);
  const hour = Math.floor(startMs / msPerHour);
  const later = Array.from({ length: hoursMax }, (_, index) => (hour + 1 + index) * msPerHour);
  return [startMs, ...later].find(fits) ?? startMs;
}

/** Longer than any run of holidays. */
const hoursMax = 24 * 31;

/** A prompt length and a time that get the same rates as the calls of the group; cheaper than querying for a real one. */
function standIn(
  row: ResultRow,
  { aboveTokens, fromMs, peaks }: PriceSteps,
  { startMs }: TimeWindow,
): Pick<PricedCalls, "promptTokens" | "startMs"> {
  const alike = integer(row, "alike");
  const tier = Math.floor(alike / tokensPlace) % (daysPlace / tokensPlace);
  const days = Math.floor(alike / daysPlace);
  const bits = Math.floor(alike / peaksPlace) % (tokensPlace / peaksPlace);
  const from = days === 0 ? startMs : (fromMs[days - 1] ?? startMs);
  return {
    promptTokens: aboveTokens[tier] ?? (aboveTokens.at(-1) ?? 0) + 1,
    startMs: timeInPeaks(from, peaks, bits),
  };
}

function toPriced(row: ResultRow): Omit<PricedCalls, "label" | "promptTokens" | "startMs"> {
  const alike = integer(row, "alike");
  return {
    model: text(row, "model"),
    callCount: integer(row, "call_count"),
    hasUsage: (alike & 1) > 0,
    costPicoUsd: moneyOf(row, "cost"),
    isCostOfUsage: (alike & 2) > 0,
    isWarm: (alike & 256) > 0,
    uncachedTokens: integer(row, "uncached"),
    readTokens: integer(row, "read_tokens"),
    writtenTokens: forLifetimes((lifetime) => integer(row, `written_${lifetime}`)),
    generatedTokens: integer(row, "output"),
  };
}
