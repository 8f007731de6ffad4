// The extra cost of lost tokens over a cache read.
import { lifetimes, noUsage, type Lifetime, type Usage } from "../message/usage.ts";
import { findTotal } from "../models/cost.ts";
import { seeMarkers } from "./prompt-view.ts";
import type { Comparison } from "./read-ladder.ts";

export interface PricedLoss extends Pick<
  Comparison,
  "view" | "rules" | "ruler" | "startMs" | "reported"
> {
  readonly usage: Usage | null;
}

/** Null if the model has no price. */
export function lossOf(lostTokens: number, loss: PricedLoss): bigint | null {
  const billed = loss.usage ?? guessUsage(loss);
  const paid = { ...billed, outputTokens: 0, reasoningTokens: 0 };
  const options = { at: loss.startMs };
  const was = findTotal(paid, loss.rules, options);
  if (was === null || lostTokens === 0) return was === null ? null : 0n;
  const couldBe = findTotal(readInstead(paid, lostTokens), loss.rules, options);
  if (couldBe === null) return null;
  const difference = was - couldBe;
  return difference < 0n ? 0n : difference;
}

/** Moves lost tokens to reads: first from the longest lifetimes, last from plain input. */
function readInstead(usage: Usage, lostTokens: number): Usage {
  let left = lostTokens;
  const take = (tokens: number): number => {
    const taken = Math.min(left, tokens);
    left -= taken;
    return tokens - taken;
  };
  const cacheWriteTokens: Partial<Record<Lifetime, number>> = {};
  for (const lifetime of lifetimes.toReversed()) {
    const tokens = usage.cacheWriteTokens[lifetime];
    if (tokens !== undefined) cacheWriteTokens[lifetime] = take(tokens);
  }
  const uncachedTokens = take(usage.uncachedTokens);
  const cacheReadTokens = usage.cacheReadTokens + lostTokens - left;
  return { ...usage, uncachedTokens, cacheReadTokens, cacheWriteTokens };
}

/** By the rules: everything up to the last marker is written. */
function guessUsage({ view, rules, ruler, reported }: PricedLoss): Usage {
  const total = Math.max(reported, ruler(view.blocks.length - 1));
  const last = seeMarkers(view, rules.cache, ruler).usable.at(-1);
  const written = last === undefined ? 0 : Math.max(0, ruler(last.block) - reported);
  return {
    ...noUsage,
    cacheReadTokens: reported,
    cacheWriteTokens: last === undefined ? {} : { [last.lifetime]: written },
    uncachedTokens: Math.max(0, total - reported - written),
  };
}
