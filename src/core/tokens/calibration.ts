// A correction per model, learned from the bill of each reply.

/** Multiplies estimates. Stored raw counts never change. */
export interface Calibration {
  readonly factor: number;
  /** The factor without the recent replies: 1, or what a refusal taught. */
  readonly base: number;
  /** Bill over estimate of the last replies, as natural logarithms. */
  readonly recent: readonly number[];
  /** Replies it learned from. */
  readonly learned: number;
  /** Replies it ignored: too small to judge, or outliers. */
  readonly ignored: number;
}

export const uncalibrated: Calibration = {
  factor: 1,
  base: 1,
  recent: [],
  learned: 0,
  ignored: 0,
};

/** One reply, compared afterwards. Both numbers leave out what was known exactly before. */
export interface Observation {
  /** The estimate from the priors, without calibration. */
  readonly estimatedTokens: number;
  readonly billedTokens: number;
}

/** Below this, envelopes and rounding outweigh what the factor could explain. */
const estimatedTokensMin = 100;
/** A larger error (as a natural logarithm) has another cause: an agent's hidden text. */
const outlierLog = 0.7;
/** The factor stays between two thirds and one and a half. */
const factorLogMax = 0.4;
const recentMax = 24;
/** Fewer replies agree by chance. */
const recentMin = 5;
/**
 * A median is believed as far as it stands out from its own uncertainty: one within it leaves the factor at its base.
 * Before replies show their own spread, it counts as this much, with the weight of a few replies.
 */
const doubt = 4;
const usualSpread = 0.1;
const usualReplies = 4;

/** Takes one more reply into account. */
export function learn(calibration: Calibration, observation: Observation): Calibration {
  const { estimatedTokens, billedTokens } = observation;
  const ignored = { ...calibration, ignored: calibration.ignored + 1 };
  if (estimatedTokens < estimatedTokensMin || billedTokens <= 0) return ignored;
  const miss = Math.log(billedTokens / estimatedTokens);
  if (Math.abs(miss) > outlierLog) return ignored;
  const recent = [...calibration.recent.slice(1 - recentMax), rounded(miss)];
  return {
    ...calibration,
    factor: factorOf(calibration.base, recent),
    recent,
    learned: calibration.learned + 1,
  };
}

/** Starts again from a factor that has another source than bills. */
export function startFrom(calibration: Calibration, factor: number): Calibration {
  return { ...calibration, factor, base: factor, recent: [] };
}

export function calibrate(estimatedTokens: number, calibration: Calibration): number {
  return Math.round(estimatedTokens * calibration.factor);
}

/** Medians, because hidden text only ever adds, and a mean would follow it. */
function factorOf(base: number, recent: readonly number[]): number {
  const replies = recent.length;
  if (replies < recentMin) return base;
  const start = Math.log(base);
  const middle = medianOf(recent);
  const spread = medianOf(recent.map((miss) => Math.abs(miss - middle))) * deviationOfMedian;
  const variance =
    (replies * spread ** 2 + usualReplies * usualSpread ** 2) / (replies + usualReplies);
  const shift = middle - start;
  const believed = shift === 0 ? 0 : shift ** 2 / (shift ** 2 + (doubt * variance) / replies);
  return Math.exp(clamp(start + believed * shift, factorLogMax));
}

/** The standard deviation that belongs to a median distance of 1. */
const deviationOfMedian = 1.48;

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[half - 1] ?? upper)) / 2;
}

/** They are stored with each session. */
function rounded(miss: number): number {
  return Math.round(miss * 10_000) / 10_000;
}

function clamp(value: number, limit: number): number {
  return Math.min(limit, Math.max(-limit, value));
}
