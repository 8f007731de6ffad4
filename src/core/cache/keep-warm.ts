// Whether it pays to repeat a prefix shortly before it expires. A recommendation; nothing is sent here.
import type { CacheRules } from "../models/cache-rules.ts";
import type { KeepWarm } from "./cache-plan.ts";
import { chanceWithin, type Pace } from "./pace.ts";

/** How long before the end of a lifetime a repetition must start. */
const marginMs = 15_000;

export interface WarmQuestion {
  readonly rules: CacheRules;
  readonly pace: Pace;
  /** Tokens in the short-lived entry after this call. */
  readonly shortTokens: number;
  /** Tokens in the long-lived entry. */
  readonly longTokens: number;
}

/** A repetition costs a read of everything. It saves the rewrite if the next call comes a little late. */
export function decideKeepWarm({ rules, pace, shortTokens, longTokens }: WarmQuestion): KeepWarm {
  const [short] = rules.lifetimes;
  const read = rules.readMultiplier;
  if (rules.prewarm === null || short === undefined || read === null) {
    return { pays: false, afterMs: null, gainTokens: 0, reason: "the provider has no way to" };
  }
  const keptMs = short.seconds * 1000;
  const comes = chanceWithin(pace, 2 * keptMs - marginMs) - chanceWithin(pace, keptMs);
  const waits = 1 - chanceWithin(pace, keptMs - marginMs);
  const write = short.writeMultiplier ?? 1;
  const gained = comes * (write - read) * Math.max(0, shortTokens - longTokens);
  const gainTokens = Math.round(gained - waits * read * shortTokens);
  const chance = `${Math.round(comes * 100)} % of calls come just after ${short.lifetime}`;
  return {
    pays: gainTokens > 0,
    afterMs: keptMs - marginMs,
    gainTokens,
    reason:
      gainTokens > 0
        ? `${chance}: repeating saves about ${gainTokens} input tokens`
        : `${chance}: repeating would cost about ${-gainTokens} input tokens more than it saves`,
  };
}
