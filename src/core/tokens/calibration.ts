// A correction per model, learned from the bill of each reply.

/** Multiplies estimates. Stored raw counts never change. */
export interface Calibration {
  readonly factor: number;
  /** Replies it learned from. */
  readonly learned: number;
  /** Replies it ignored: too small to judge, or outliers. */
  readonly ignored: number;
}

export const uncalibrated: Calibration = { factor: 1, learned: 0, ignored: 0 };

/** One reply, compared afterwards. Both numbers leave out what was known exactly before. */
export interface Observation {
  /** The estimate from the priors, without calibration. */
  readonly estimatedTokens: number;
  readonly billedTokens: number;
}

/** Below this, envelopes and rounding outweigh what the factor could explain. */
const estimatedTokensMin = 100;
/** A larger error (as a natural logarithm) has another cause: an agent's hidden text. */
const outlierLog = 0.4;
/** No single reply moves the factor by more than 5 %. */
const stepLogMax = 0.05;
/** The factor stays between two thirds and one and a half. */
const factorLogMax = 0.4;
const gain = 0.1;
/** An estimate of this size counts half as much as a very large one. */
const halfWeightTokens = 500;
/** Too low costs a failed call, too high only some room. So a low estimate weighs half as much again. */
const lowWeight = 1.2;
const highWeight = 0.8;

/** Moves the factor a little towards the bill. */
export function learn(calibration: Calibration, observation: Observation): Calibration {
  const { estimatedTokens, billedTokens } = observation;
  const ignored = { ...calibration, ignored: calibration.ignored + 1 };
  if (estimatedTokens < estimatedTokensMin || billedTokens <= 0) return ignored;
  const current = Math.log(calibration.factor);
  const miss = Math.log(billedTokens / estimatedTokens) - current;
  if (Math.abs(miss) > outlierLog) return ignored;
  const size = estimatedTokens / (estimatedTokens + halfWeightTokens);
  const step = gain * size * miss * (miss > 0 ? lowWeight : highWeight);
  const moved = current + clamp(step, stepLogMax);
  return {
    factor: Math.exp(clamp(moved, factorLogMax)),
    learned: calibration.learned + 1,
    ignored: calibration.ignored,
  };
}

export function calibrate(estimatedTokens: number, calibration: Calibration): number {
  return Math.round(estimatedTokens * calibration.factor);
}

function clamp(value: number, limit: number): number {
  return Math.min(limit, Math.max(-limit, value));
}
