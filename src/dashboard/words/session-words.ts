// What a person would say of one session: what it cost, what was lost, why, and what to do.
import type { PicturedCall } from "../picture/pictured-call.ts";
import { dollarsOf } from "../picture/scene.ts";
import { capital, clauseOf } from "./causes.ts";
import { count, counted, dollars, span, toDollars, tokens } from "./figures.ts";

export interface SessionWords {
  readonly cost: string;
  /** Null where a price is unknown. */
  readonly withoutCache: string | null;
  /** Null where nothing was lost. */
  readonly lost: LostWords | null;
  /** Calls whose price is unknown: they are in no sum. */
  readonly unpricedCount: number;
}

export interface LostWords {
  readonly dollars: string;
  readonly breaks: string;
  /** Those that cost most, in words. */
  readonly causes: readonly string[];
  /** What would have avoided the dearest of them. */
  readonly advice: string;
}

const causesMax = 3;

export function describeSession(calls: readonly PicturedCall[]): SessionWords {
  const costs = calls.map(dollarsOf);
  const plain = calls.map(({ plainDollars }) => plainDollars);
  return {
    cost: dollars(sum(costs.map((cost) => cost ?? 0))),
    withoutCache: plain.includes(null) ? null : dollars(sum(plain.map((each) => each ?? 0))),
    lost: describeLost(calls),
    unpricedCount: costs.filter((cost) => cost === null).length,
  };
}

function describeLost(calls: readonly PicturedCall[]): LostWords | null {
  const misses = calls.filter(({ miss }) => miss !== null && miss.lostTokens > 0);
  if (misses.length === 0) return null;
  const gaps = new Map(
    calls.map((call, at) => [call, call.startMs - (calls[at - 1] ?? call).startMs]),
  );
  const byCause = [...Map.groupBy(misses, ({ miss }) => miss?.cause ?? "")]
    .map(([cause, each]) => ({ cause, each, lost: sum(each.map(lostBy)) }))
    .toSorted((left, right) => right.lost - left.lost);
  const dearest = byCause[0]?.each.toSorted((left, right) => lostBy(right) - lostBy(left))[0];
  return {
    dollars: dollars(sum(misses.map(lostBy))),
    breaks: counted(misses.length, "break"),
    causes: byCause.slice(0, causesMax).map(({ cause, each }) => describeCause(cause, each, gaps)),
    advice: dearest?.miss?.advice ?? "",
  };
}

function describeCause(
  cause: string,
  each: readonly PicturedCall[],
  gaps: ReadonlyMap<PicturedCall, number>,
): string {
  const [first] = each;
  if (first === undefined || each.length > 1) return `${clauseOf(cause)} ${each.length} times`;
  const clause =
    cause === "lifetime expired"
      ? `a pause of ${span(gaps.get(first) ?? 0)} outlived the lifetime`
      : clauseOf(cause);
  return `${clause} at call ${first.number}`;
}

function lostBy({ miss }: PicturedCall): number {
  return miss?.lostDollars ?? 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

interface WordedMiss {
  readonly cause: string;
  readonly block: string | null;
  readonly byte: number | null;
  readonly lostTokens: number;
  readonly lostDollars: number | null;
}

/** One sentence for one miss: what changed where, and what it cost. */
export function describeMiss({ miss }: PicturedCall, gapMs: number): string {
  return miss === null ? "" : say(miss, miss.cause === "lifetime expired" ? gapMs : null);
}

/** The same of a call in a list. */
export function describeListedMiss(miss: {
  readonly cause: string;
  readonly section: string | null;
  readonly byte: number | null;
  readonly lost_tokens: number;
  readonly lost_cost_usd: string | null;
}): string {
  const { cause, section: block, byte, lost_tokens: lostTokens } = miss;
  return say({ cause, block, byte, lostTokens, lostDollars: toDollars(miss.lost_cost_usd) }, null);
}

function say(
  { cause, block, byte, lostTokens, lostDollars }: WordedMiss,
  gapMs: number | null,
): string {
  const place =
    block === null ? "" : ` at ${byte === null ? "" : `byte ${count(byte)} of `}${block}`;
  const clause =
    gapMs === null ? clauseOf(cause) : `a pause of ${span(gapMs)} outlived the lifetime`;
  const price = lostDollars === null ? "" : `, ${dollars(lostDollars)}`;
  return `${capital(clause)}${place}: ${tokens(lostTokens)} paid again${price}`;
}
