// What a person would say of one session: what it cost, what was lost and why.
import type { PicturedCall } from "../picture/pictured-call.ts";
import { dollarsOf } from "../picture/scene.ts";
import { count, dollars, span, toDollars, tokens } from "./figures.ts";

export interface SessionWords {
  readonly cost: string;
  /** Null where nothing was lost. */
  readonly lost: { readonly dollars: string; readonly causes: string } | null;
  /** Calls whose price is unknown: they are in no sum. */
  readonly unpricedCount: number;
}

export function describeSession(calls: readonly PicturedCall[]): SessionWords {
  const costs = calls.map(dollarsOf);
  const misses = calls.filter(({ miss }) => miss !== null && miss.lostTokens > 0);
  const byCause = [...Map.groupBy(misses, ({ miss }) => miss?.cause ?? "")]
    .map(([cause, each]) => ({ cause, each, lost: sum(each.map(lostBy)) }))
    .toSorted((left, right) => right.lost - left.lost);
  return {
    cost: dollars(sum(costs.map((cost) => cost ?? 0))),
    lost:
      misses.length === 0
        ? null
        : {
            dollars: dollars(sum(misses.map(lostBy))),
            causes: byCause.slice(0, 3).map(describeCause).join(", "),
          },
    unpricedCount: costs.filter((cost) => cost === null).length,
  };
}

function describeCause({
  cause,
  each,
}: {
  readonly cause: string;
  readonly each: readonly PicturedCall[];
}): string {
  const [first] = each;
  return each.length === 1 && first !== undefined
    ? `${cause} at call ${first.number}`
    : `${cause} (${each.length} times)`;
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
  const pause = gapMs === null ? "" : ` after a pause of ${span(gapMs)}`;
  const price = lostDollars === null ? "" : `, ${dollars(lostDollars)}`;
  return `${capital(cause)}${place}${pause}: ${tokens(lostTokens)} paid again${price}`;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
