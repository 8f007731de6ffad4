// The time until the next call: a prior for the kind of agent, and the observed gaps.
import { lifetimes, secondsOf } from "../message/usage.ts";

/** What the agent waits for between calls. */
export type PaceKind = "human" | "tool loop" | "worker" | "cron" | "one-shot";

export interface Pace {
  readonly kind: PaceKind;
  /** Observed gaps by class: up to each lifetime, and longer than all. */
  readonly gaps: readonly number[];
  /** Gaps that followed a pause: one pause often follows another. */
  readonly gapsAfterPause: readonly number[];
  readonly lastWasPause: boolean;
}

const classCount = lifetimes.length + 1;

const none: readonly number[] = Array.from({ length: classCount }, () => 0);

export function openPace(kind: PaceKind): Pace {
  return { kind, gaps: none, gapsAfterPause: none, lastWasPause: false };
}

export function learnPace(pace: Pace, gapMs: number): Pace {
  const lastWasPause = gapMs > pauseMs;
  return pace.lastWasPause
    ? { ...pace, gapsAfterPause: countOne(pace.gapsAfterPause, gapMs), lastWasPause }
    : { ...pace, gaps: countOne(pace.gaps, gapMs), lastWasPause };
}

/** Longer than most tools take, and the shortest lifetime. */
const pauseMs = 300_000;

function countOne(counts: readonly number[], gapMs: number): readonly number[] {
  const place = lifetimes.findIndex((lifetime) => gapMs <= secondsOf[lifetime] * 1000);
  const at = place === -1 ? classCount - 1 : place;
  return counts.map((count, index) => (index === at ? count + 1 : count));
}

interface Prior {
  /** Shares of the gaps: up to 5m, 30m, 1h, 12h, 24h, longer. */
  readonly shares: readonly number[];
  /** The probability that no further call comes. */
  readonly end: number;
  /** Like `shares`, for other sessions on the same foundation. The rest never come. */
  readonly siblings: readonly number[];
}

/** How many observations the prior counts for. */
const priorWeight = 8;

/** Lower after a pause: such gaps are few but informative. */
const pausePriorWeight = 3;

/** The weight of the prior `end`. */
const endWeight = 2;

const priors: Readonly<Record<PaceKind, Prior>> = {
  human: {
    shares: [0.93, 0.04, 0.01, 0.01, 0.005, 0.005],
    end: 0.02,
    siblings: [0.02, 0.05, 0.05, 0.2, 0.2, 0.48],
  },
  "tool loop": {
    shares: [0.98, 0.01, 0.002, 0.004, 0.002, 0.002],
    end: 0.02,
    siblings: [0.02, 0.05, 0.05, 0.2, 0.2, 0.48],
  },
  worker: {
    shares: [0.994, 0.003, 0.001, 0.001, 0.0005, 0.0005],
    end: 0.05,
    siblings: [0.5, 0.1, 0.05, 0.1, 0.05, 0.2],
  },
  cron: {
    shares: [0.05, 0.05, 0.2, 0.3, 0.35, 0.05],
    end: 0.02,
    siblings: [0.05, 0.05, 0.2, 0.3, 0.35, 0.05],
  },
  "one-shot": {
    shares: [1, 0, 0, 0, 0, 0],
    end: 1,
    siblings: [0.05, 0.05, 0.05, 0.05, 0.05, 0.75],
  },
};

/** The probability that the next call comes within `ms`. */
export function chanceWithin(pace: Pace, ms: number): number {
  const { shares, end } = priors[pace.kind];
  const seen = total(pace.gaps) + total(pace.gapsAfterPause);
  // Every call that came makes the end less likely.
  const ends = (end * endWeight) / (endWeight + seen);
  const share = pace.lastWasPause
    ? shareWithin(pace.gapsAfterPause, shares, ms, pausePriorWeight)
    : shareWithin(pace.gaps, shares, ms, priorWeight);
  return (1 - ends) * share;
}

/** The probability that another session on the same foundation calls within `ms`. */
export function siblingChanceWithin(pace: Pace, ms: number): number {
  return shareWithin(none, priors[pace.kind].siblings, ms, priorWeight);
}

/**
 * The probability that the next call comes between two times after the last one, given that it did not come before the
 * first. Within a class of gaps it falls with time: a person who is away for longer is less likely to be back at once.
 */
export function chanceBetween(pace: Pace, fromMs: number, toMs: number): number {
  const { shares, end } = priors[pace.kind];
  const counts = pace.gaps.map((count, index) => count + (pace.gapsAfterPause[index] ?? 0));
  const seen = total(counts);
  const ends = (end * endWeight) / (endWeight + seen);
  let comes = 0;
  let waits = ends / (1 - ends);
  let from = shortestGapMs;
  for (let index = 0; index < classCount; index += 1) {
    const lifetime = lifetimes[index];
    const share =
      ((counts[index] ?? 0) + priorWeight * (shares[index] ?? 0)) / (seen + priorWeight);
    const to = lifetime === undefined ? Infinity : secondsOf[lifetime] * 1000;
    const after = (ms: number): number => shareAfter(ms, from, to);
    comes += share * (after(fromMs) - after(toMs));
    waits += share * after(fromMs);
    from = to;
  }
  return waits > 0 ? comes / waits : 0;
}

const shortestGapMs = 1000;

/** The part of a class of gaps that is longer than `ms`, spread evenly on a logarithmic scale. */
function shareAfter(ms: number, from: number, to: number): number {
  if (to === Infinity || ms <= from) return ms >= to ? 0 : 1;
  return ms >= to ? 0 : Math.log(to / ms) / Math.log(to / from);
}

/** Assumes that gaps are spread evenly within a class. */
function shareWithin(
  counts: readonly number[],
  shares: readonly number[],
  ms: number,
  weight: number,
): number {
  const seen = total(counts);
  let chance = 0;
  let from = 0;
  for (const [index, lifetime] of lifetimes.entries()) {
    const to = secondsOf[lifetime] * 1000;
    const share = ((counts[index] ?? 0) + weight * (shares[index] ?? 0)) / (seen + weight);
    if (ms >= to) chance += share;
    else if (ms > from) chance += (share * (ms - from)) / (to - from);
    from = to;
  }
  return chance;
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** How many calls a session of this kind makes, before anything is observed. */
export function expectedCalls({ kind }: Pace): number {
  return callsOf[kind];
}

const callsOf: Readonly<Record<PaceKind, number>> = {
  human: 20,
  "tool loop": 20,
  worker: 10,
  cron: 1,
  "one-shot": 1,
};
