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
  /** Gaps that followed a slow one: a person who reads and writes between calls pauses more often. Absent for none. */
  readonly gapsAfterSlow?: readonly number[];
  readonly lastWasPause: boolean;
  /** Absent if it was not. */
  readonly lastWasSlow?: true;
  /** What earlier sessions of the agent observed. It counts beside the prior. Absent for none. */
  readonly inherited?: GapCounts;
}

export type GapCounts = Pick<Pace, "gaps" | "gapsAfterPause" | "gapsAfterSlow">;

const classCount = lifetimes.length + 1;

const none: readonly number[] = Array.from({ length: classCount }, () => 0);

/** `earlier`: the paces of the agent's earlier sessions. They say nothing about another kind of agent. */
export function openPace(kind: PaceKind, earlier: readonly Pace[] = []): Pace {
  const fresh: Pace = { kind, gaps: none, gapsAfterPause: none, lastWasPause: false };
  const seen = earlier.filter((pace) => pace.kind === kind);
  const afterSlow = seen.flatMap(({ gapsAfterSlow }) => (gapsAfterSlow ? [gapsAfterSlow] : []));
  const inherited: GapCounts = {
    gaps: atMost(inheritedMax, seen.map(({ gaps }) => gaps).reduce(plus, none)),
    gapsAfterPause: atMost(
      inheritedPauseMax,
      seen.map(({ gapsAfterPause }) => gapsAfterPause).reduce(plus, none),
    ),
    ...(afterSlow.length > 0 && {
      gapsAfterSlow: atMost(inheritedMax, afterSlow.reduce(plus, none)),
    }),
  };
  return countOf(inherited) === 0 ? fresh : { ...fresh, inherited };
}

/** A pace as it was stored; null for what is none. */
export function readPace(stored: unknown): Pace | null {
  if (typeof stored !== "object" || stored === null) return null;
  const { kind, lastWasPause, lastWasSlow, inherited } = stored as Partial<Pace>;
  const counts = readCounts(stored);
  if (kind === undefined || !Object.hasOwn(priors, kind) || counts === null) return null;
  const earlier = readCounts(inherited ?? {});
  return {
    kind,
    ...counts,
    lastWasPause: lastWasPause === true,
    ...(lastWasSlow === true && { lastWasSlow }),
    ...(earlier !== null && { inherited: earlier }),
  };
}

function readCounts({ gaps, gapsAfterPause, gapsAfterSlow }: Partial<GapCounts>): GapCounts | null {
  if (!areCounts(gaps) || !areCounts(gapsAfterPause)) return null;
  return { gaps, gapsAfterPause, ...(areCounts(gapsAfterSlow) && { gapsAfterSlow }) };
}

function areCounts(value: unknown): value is readonly number[] {
  if (!Array.isArray(value) || value.length !== classCount) return false;
  return value.every((count: unknown) => typeof count === "number" && count >= 0);
}

/** Scaled to at most that many observations, so that a changed agent is learned anew. */
function atMost(observations: number, counts: readonly number[]): readonly number[] {
  const factor = Math.min(1, observations / Math.max(1, total(counts)));
  return counts.map((count) => Math.round(count * factor * 1000) / 1000);
}

function plus(left: readonly number[] = none, right: readonly number[] = none): readonly number[] {
  return right === none ? left : left.map((count, index) => count + (right[index] ?? 0));
}

export function learnPace({ lastWasSlow, ...before }: Pace, gapMs: number): Pace {
  const lastWasPause = gapMs > pauseMs;
  const isSlow = gapMs > slowMs && !lastWasPause;
  const pace = { ...before, lastWasPause, ...(isSlow && { lastWasSlow: isSlow }) };
  if (before.lastWasPause) {
    return { ...pace, gapsAfterPause: countOne(before.gapsAfterPause, gapMs) };
  }
  if (lastWasSlow === true) {
    return { ...pace, gapsAfterSlow: countOne(before.gapsAfterSlow ?? none, gapMs) };
  }
  return { ...pace, gaps: countOne(before.gaps, gapMs) };
}

/** The pace when a call starts: it knows the gap that has just ended. `lastMs` is the start of the call before; null for none. */
export function paceAt(pace: Pace, lastMs: number | null, nowMs: number): Pace {
  return lastMs === null ? pace : learnPace(pace, nowMs - lastMs);
}

/** Longer than most tools take, and the shortest lifetime. */
const pauseMs = 300_000;

/** Longer than a model and its tools usually take: a person was there in between. */
const slowMs = 60_000;

function countOne(counts: readonly number[], gapMs: number): readonly number[] {
  const place = lifetimes.findIndex((lifetime) => gapMs <= secondsOf[lifetime] * 1000);
  const at = place === -1 ? classCount - 1 : place;
  return counts.map((count, index) => (index === at ? count + 1 : count));
}

interface Prior {
  /** Shares of the gaps: up to 5m, 30m, 1h, 12h, 24h, longer. */
  readonly shares: readonly number[];
  /** The same after a slow gap, where that differs. */
  readonly sharesAfterSlow?: readonly number[];
  /** The probability that no further call comes. */
  readonly end: number;
  /** Like `shares`, for other sessions on the same foundation. The rest never come. */
  readonly siblings: readonly number[];
}

/** How many observations the prior counts for. */
const priorWeight = 8;

/** Lower after a pause: such gaps are few but informative. */
const pausePriorWeight = 3;

/** How many observations of earlier sessions count at most: twice the prior. */
const inheritedMax = 2 * priorWeight;
const inheritedPauseMax = 2 * pausePriorWeight;

/** The weight of the prior `end`. */
const endWeight = 2;

const priors: Readonly<Record<PaceKind, Prior>> = {
  human: {
    shares: [0.93, 0.04, 0.01, 0.01, 0.005, 0.005],
    sharesAfterSlow: [0.888, 0.064, 0.016, 0.016, 0.008, 0.008],
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
  const { end } = priors[pace.kind];
  return (1 - endChance(pace, end)) * shareNow(pace, ms);
}

/** What was seen after gaps like the last one counts beside the prior. */
function shareNow(pace: Pace, ms: number): number {
  const { gaps, gapsAfterPause, gapsAfterSlow, inherited } = pace;
  const { shares, sharesAfterSlow = shares } = priors[pace.kind];
  if (pace.lastWasPause) {
    const seen = plus(gapsAfterPause, inherited?.gapsAfterPause);
    return shareWithin(seen, shares, ms, pausePriorWeight);
  }
  if (pace.lastWasSlow === true) {
    const seen = plus(gapsAfterSlow, inherited?.gapsAfterSlow);
    return shareWithin(seen, sharesAfterSlow, ms, priorWeight);
  }
  return shareWithin(plus(gaps, inherited?.gaps), shares, ms, priorWeight);
}

/** Every call that came in this session makes its end less likely. */
function endChance(pace: Pace, end: number): number {
  return (end * endWeight) / (endWeight + countOf(pace));
}

function countOf({ gaps, gapsAfterPause, gapsAfterSlow = none }: GapCounts): number {
  return total(gaps) + total(gapsAfterPause) + total(gapsAfterSlow);
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
  const counts = allCounts(pace).reduce(plus, none);
  const seen = total(counts);
  const ends = endChance(pace, end);
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

/** The gaps of this session. */
export function seenGaps(pace: Pace): number {
  return countOf(pace);
}

/** The gaps longer than the shortest lifetime, in this session and as far as inherited. */
export function seenPauses(pace: Pace): number {
  return total(allCounts(pace).flatMap((counts) => counts.slice(1)));
}

/** Every count of gaps, of this session and as far as inherited. */
function allCounts({ inherited, ...own }: Pace): (readonly number[])[] {
  return [own, ...(inherited === undefined ? [] : [inherited])].flatMap(
    ({ gaps, gapsAfterPause, gapsAfterSlow = none }) => [gaps, gapsAfterPause, gapsAfterSlow],
  );
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
