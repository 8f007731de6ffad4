// What a person would say of one session: what it cost, what was lost and why.
import type { PicturedCall } from "../picture/pictured-call.ts";
import { dollarsOf } from "../picture/scene.ts";
import { dollars, span, tokens } from "./figures.ts";

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

/** One sentence for one miss: what changed where, and what it cost. */
export function describeMiss(call: PicturedCall, gapMs: number): string {
  const { miss } = call;
  if (miss === null) return "";
  const place =
    miss.block === null
      ? ""
      : ` at ${miss.byte === null ? "" : `byte ${miss.byte.toLocaleString("en-US")} of `}\`${miss.block}\``;
  const pause = miss.cause === "lifetime expired" ? ` after a pause of ${span(gapMs)}` : "";
  const price = miss.lostDollars === null ? "" : `, ${dollars(miss.lostDollars)}`;
  return `${capital(miss.cause)}${place}${pause}: ${tokens(miss.lostTokens)} paid again${price}`;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
