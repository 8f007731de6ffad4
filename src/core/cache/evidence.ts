// What replies show about the provider's promises. The planner stops relying on a refuted promise.

/** The promises a plan relies on. The list is closed. */
export const cachePromises = [
  /** A timely next call can read a written prefix. */
  "writes are kept",
  /** A prefix written for the longest lifetime outlives the shortest one. */
  "long lifetimes last",
  /** A marker before the hit restarts its entry's lifetime. */
  "markers refresh",
  /** An entry is found some positions before a marker. */
  "lookback finds",
  /** A small long-lived step keeps the shorter-lived prefix before it, too. It follows from documented prices; few have seen it. */
  "steps last",
] as const;

export type CachePromise = (typeof cachePromises)[number];

export type Evidence = Readonly<Record<CachePromise, Tally>>;

export interface Tally {
  readonly held: number;
  readonly broken: number;
}

const nothing: Tally = { held: 0, broken: 0 };

export const noEvidence: Evidence = {
  "writes are kept": nothing,
  "long lifetimes last": nothing,
  "markers refresh": nothing,
  "lookback finds": nothing,
  "steps last": nothing,
};

/** Evidence as it was stored. A promise that was not known then has none; what is no evidence is none. */
export function readEvidence(stored: unknown): Evidence {
  const tallies: Readonly<Record<string, unknown>> =
    typeof stored === "object" && stored !== null ? { ...stored } : {};
  const read = cachePromises.map((promise) => {
    const tally = tallies[promise];
    return [promise, isTally(tally) ? tally : nothing] as const;
  });
  return { ...noEvidence, ...Object.fromEntries(read) };
}

function isTally(value: unknown): value is Tally {
  if (typeof value !== "object" || value === null) return false;
  const { held, broken } = value as Partial<Tally>;
  return [held, broken].every((count) => Number.isFinite(count) && (count ?? -1) >= 0);
}

/**
 * What a new session starts from: for each promise that was broken, the tally of the session that saw most, because each of
 * them began with what the earlier ones had seen. A promise that only held is what the documents say already. What a
 * trial showed about steps counts either way, and for several accidental observations. None counts for more
 * than a dozen, so that a changed provider is noticed.
 */
export function inheritEvidence(
  earlier: readonly Evidence[],
  trials: readonly Evidence[] = [],
): Evidence {
  const inherited = cachePromises.map((promise) => {
    const broken = earlier.map(({ [promise]: tally }) => tally).filter((each) => each.broken > 0);
    const tried = promise === "steps last" ? trials.map((each) => asTrial(each[promise])) : [];
    return [promise, atMost(inheritedMax, [...tried, ...broken].reduce(larger, nothing))] as const;
  });
  return { ...noEvidence, ...Object.fromEntries(inherited) };
}

function larger(left: Tally, right: Tally): Tally {
  return countOf(right) > countOf(left) ? right : left;
}

function asTrial({ held, broken }: Tally): Tally {
  return { held: held * trialWeight, broken: broken * trialWeight };
}

const trialWeight = 5;

const inheritedMax = 12;

function atMost(observations: number, tally: Tally): Tally {
  const factor = Math.min(1, observations / Math.max(1, countOf(tally)));
  const scale = (count: number): number => Math.round(count * factor * 1000) / 1000;
  return { held: scale(tally.held), broken: scale(tally.broken) };
}

function countOf({ held, broken }: Tally): number {
  return held + broken;
}

export function addEvidence(evidence: Evidence, promise: CachePromise, held: boolean): Evidence {
  const { [promise]: before } = evidence;
  const after = {
    held: before.held + (held ? 1 : 0),
    broken: before.broken + (held ? 0 : 1),
  };
  return { ...evidence, [promise]: after };
}

/** How reliable a promise is, from 0 to 1. The documentation counts as a few good observations. */
export function reliabilityOf(evidence: Evidence, promise: CachePromise): number {
  const { held, broken } = evidence[promise];
  const prior = promise === "steps last" ? inferred : documented;
  return (held + prior.held) / (held + broken + prior.held + prior.broken);
}

const documented: Tally = { held: 2, broken: 0.1 };
/** As likely, but one observation against it weighs more. */
const inferred: Tally = { held: 1, broken: 0.05 };

/** Below this share a promise is refuted: the planner ignores it until it holds again. */
const refutedBelow: Readonly<Record<CachePromise, number>> = {
  // If one write in eight is lost, it pays to keep the places before it within reach.
  "writes are kept": 0.88,
  "long lifetimes last": 0.6,
  "markers refresh": 0.6,
  "lookback finds": 0.8,
  "steps last": 0.6,
};

/** One loss may be the provider's accident. A step costs so little that it is still tested after one. */
export function isRefuted(evidence: Evidence, promise: CachePromise): boolean {
  const brokenMin = promise === "steps last" ? 1 : 2;
  const { broken } = evidence[promise];
  return broken >= brokenMin && reliabilityOf(evidence, promise) < refutedBelow[promise];
}
