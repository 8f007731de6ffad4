// Whether conversations that were optimised cost less than those that were left as they are, with a confidence interval.

/** What one conversation and its sub-agents cost, and what the same calls would have cost without a cache. */
export interface Family {
  readonly costUsd: number;
  readonly plainUsd: number;
}

export interface ArmsComparison {
  /** Cost ÷ cost without a cache, over all of the arm; null if nothing was priced. */
  readonly strataShare: number | null;
  readonly holdoutShare: number | null;
  /** How much less the optimised ones cost, as a share of what they would have; below 0 they cost more. */
  readonly savedShare: number | null;
  /** Null with too few conversations. */
  readonly interval: Interval | null;
  /** What the data show. Null: nothing is claimed, and `reason` says why. */
  readonly claim: "cheaper" | "dearer" | null;
  readonly reason: string | null;
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

export const confidence = 0.95;
/** An interval over fewer would be narrower than it should be. */
export const familiesMin = 20;
const rounds = 2000;

/**
 * Arms hold different conversations, long and short ones, so dollars cannot be compared: each arm's cost is divided by what
 * its calls would have cost without a cache. The calls of a conversation depend on each other, so whole conversations are
 * drawn, with repetition, as often as there are (bootstrap). The draws are the same every time.
 */
export function compareArms(strata: readonly Family[], holdout: readonly Family[]): ArmsComparison {
  const [strataShare, holdoutShare] = [shareOf(strata), shareOf(holdout)];
  const savedShare = savedOf(strataShare, holdoutShare);
  const shares = { strataShare, holdoutShare, savedShare };
  const few = tooFew(strata.length, holdout.length);
  if (few !== null || savedShare === null) {
    const reason = few ?? "nothing of it has a price";
    return { ...shares, interval: null, claim: null, reason };
  }
  const interval = drawInterval(strata, holdout);
  const claim = interval.low > 0 ? "cheaper" : interval.high < 0 ? "dearer" : null;
  const reason = claim === null ? "the interval includes zero" : null;
  return { ...shares, interval, claim, reason };
}

function tooFew(strata: number, holdout: number): string | null {
  if (strata >= familiesMin && holdout >= familiesMin) return null;
  return `${strata} optimised and ${holdout} held-out conversations are too few, ${familiesMin} of each are needed`;
}

function shareOf(families: readonly Family[]): number | null {
  let [cost, plain] = [0, 0];
  for (const { costUsd, plainUsd } of families) [cost, plain] = [cost + costUsd, plain + plainUsd];
  return plain > 0 ? cost / plain : null;
}

function savedOf(strata: number | null, holdout: number | null): number | null {
  return strata === null || holdout === null || holdout === 0 ? null : 1 - strata / holdout;
}

function drawInterval(strata: readonly Family[], holdout: readonly Family[]): Interval {
  const next = createDraws();
  const saved: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const one = savedOf(drawShare(strata, next), drawShare(holdout, next));
    if (one !== null) saved.push(one);
  }
  const inOrder = Float64Array.from(saved).toSorted();
  const cut = (1 - confidence) / 2;
  const at = (share: number): number =>
    inOrder[Math.min(inOrder.length - 1, Math.floor(share * inOrder.length))] ?? 0;
  return { low: at(cut), high: at(1 - cut) };
}

function drawShare(families: readonly Family[], next: () => number): number | null {
  let [cost, plain] = [0, 0];
  for (let drawn = 0; drawn < families.length; drawn += 1) {
    const family = families[Math.floor(next() * families.length)];
    cost += family?.costUsd ?? 0;
    plain += family?.plainUsd ?? 0;
  }
  return plain > 0 ? cost / plain : null;
}

/** Numbers from 0 to 1 without a pattern, the same each time (mulberry32). */
function createDraws(): () => number {
  let state = 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
