// The calls of a window, grouped so that one price applies to all calls of a group.
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
import type { Label, LedgerSnapshot, Question } from "./analysis.ts";
import { readColumns, type SumColumns } from "./read-sums.ts";
import type { AlikeCalls } from "./reprice.ts";
import type { TimeWindow } from "./time-window.ts";

export interface PricedCalls extends AlikeCalls {
  readonly label: Label;
  /** The number that calls of one price share. */
  readonly alike: number;
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
  if (retried.length === 0) return all;
  const parts = new Map(retried.map((calls) => [keyOf(calls), calls]));
  const rest = all.map((calls) => {
    const part = parts.get(keyOf(calls));
    return part === undefined ? calls : minus(calls, part);
  });
  return [
    ...rest.filter(({ callCount }) => callCount > 0),
    ...retried.map((calls) => ({ ...calls, isCostOfUsage: false })),
  ];
}

function keyOf({ alike, model, label }: PricedCalls): string {
  return `${alike} ${model} ${String(label)}`;
}

const priceColumns = ["call_count", "cost_0", "cost_1", "uncached", "read_tokens", "output"].concat(
  lifetimes.map((lifetime) => `written_${lifetime}`),
);

async function readGroups(
  ledger: LedgerSnapshot,
  question: Question,
  bands: PriceBands,
  fact: Fact,
): Promise<readonly PricedCalls[]> {
  const found = await readColumns(ledger, question, {
    fact: areStoredBands(bands) ? fact : withBands(fact, bands),
    dims: ["model", "alike"],
    columns: priceColumns,
  });
  const [models, alikes] = [found.dim("model"), found.dim("alike")];
  const kinds = new Map<number, Kind>();
  const read = createReader(found);
  return Array.from({ length: found.count }, (_, row) => {
    const number = alikes[row] ?? 0;
    const kind = kinds.get(number) ?? toKind(number, bands, question.window);
    kinds.set(number, kind);
    const model = found.nameOf(models[row] ?? 0) ?? "";
    return { ...kind, model, label: found.labels[found.groupOf[row] ?? 0] ?? null, ...read(row) };
  });
}

/** What all calls of one number have in common. */
type Kind = Pick<
  PricedCalls,
  "alike" | "hasUsage" | "isCostOfUsage" | "isWarm" | "promptTokens" | "startMs"
>;

function toKind(number: number, bands: PriceBands, window: TimeWindow): Kind {
  const alike = toAlike(number);
  const { hasUsage, hasCost: isCostOfUsage, isWarm } = alike;
  return { alike: number, hasUsage, isCostOfUsage, isWarm, ...standIn(alike, bands, window) };
}

function createReader({
  column,
}: SumColumns): (row: number) => Omit<PricedCalls, keyof Kind | "model" | "label"> {
  const countsOf = (name: string): ((row: number) => number) => {
    const values = column(name);
    return (row) => Math.min(values[row] ?? 0, Number.MAX_SAFE_INTEGER);
  };
  const [callCount, uncached, readTokens, output] = [
    countsOf("call_count"),
    countsOf("uncached"),
    countsOf("read_tokens"),
    countsOf("output"),
  ];
  const [large, small] = [countsOf("cost_0"), countsOf("cost_1")];
  const written = {
    "5m": countsOf("written_5m"),
    "30m": countsOf("written_30m"),
    "1h": countsOf("written_1h"),
    "12h": countsOf("written_12h"),
    "24h": countsOf("written_24h"),
  };
  return (row) => ({
    callCount: callCount(row),
    costPicoUsd: BigInt(large(row)) * 1_000_000n + BigInt(small(row)),
    uncachedTokens: uncached(row),
    readTokens: readTokens(row),
    writtenTokens: forLifetimes((lifetime) => written[lifetime](row)),
    generatedTokens: output(row),
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
