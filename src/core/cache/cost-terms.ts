// The prices and probabilities behind the least expected cost.
import type { LifetimeRules } from "../models/cache-rules.ts";
import { isRefuted, reliabilityOf } from "./evidence.ts";
import type { CostQuestion } from "./marker-places.ts";
import { chanceWithin, expectedCalls, siblingChanceWithin } from "./pace.ts";

/** Prices as shares of the input price, and how likely each kind of next call is. */
export interface Terms {
  readonly short: LifetimeRules;
  readonly long: LifetimeRules | null;
  readonly read: number;
  readonly shortWrite: number;
  readonly longWrite: number;
  /** The probability that the next call comes while a short-lived entry is kept. */
  readonly soon: number;
  /**
   * How many later calls, while only a long-lived entry is kept, come before one comes sooner or too late. Without steps a
   * long lifetime has to be chosen before the session's pauses: then it is how many of them are to be expected.
   */
  readonly later: number;
  readonly siblingSoon: number;
  readonly siblingLater: number;
  /** Whether a step keeps the shorter-lived prefix before it. */
  readonly stepsLast: boolean;
}

export function termsOf({ rules, state, pace }: CostQuestion): Terms | null {
  const [short] = rules.lifetimes;
  if (short === undefined) return null;
  const { evidence } = state;
  const last = rules.lifetimes.at(-1);
  const isOffered = last !== undefined && last !== short && last.writeMultiplier !== null;
  const long = isOffered && !isRefuted(evidence, "long lifetimes last") ? last : null;
  const kept = reliabilityOf(evidence, "writes are kept");
  const lasts = kept * reliabilityOf(evidence, "long lifetimes last");
  const shortMs = short.seconds * 1000;
  const longMs = (long?.seconds ?? 0) * 1000;
  const soon = chanceWithin(pace, shortMs);
  const isLater = Math.min(laterMax, Math.max(0, chanceWithin(pace, longMs) - soon) * lasts);
  const stepsLast = !isRefuted(evidence, "steps last");
  const siblingSoon = siblingChanceWithin(pace, shortMs);
  return {
    short,
    long,
    read: rules.readMultiplier ?? 1,
    shortWrite: short.writeMultiplier ?? 1,
    longWrite: long?.writeMultiplier ?? 1,
    soon: soon * kept,
    later: stepsLast ? isLater / (1 - isLater) : isLater * expectedCalls(pace),
    siblingSoon: siblingSoon * kept,
    siblingLater: Math.max(0, siblingChanceWithin(pace, longMs) - siblingSoon) * lasts,
    stepsLast,
  };
}

/** Even with regular pauses, the next one may be longer. */
const laterMax = 0.95;
