// What bills and refusals taught about sizes on one model: how far estimates are off, and the real limit. A JSON value.
import { isCount, isObject } from "../message/fields.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import {
  calibrate,
  learn,
  startFrom,
  uncalibrated,
  type Calibration,
  type Observation,
} from "./calibration.ts";

export interface LearnedSizes {
  readonly calibration: Calibration;
  /** How often the provider refused a prompt as too long. */
  readonly overflows: number;
  /** The longest prompt, as the provider named it in a refusal. Null if it named none. */
  readonly promptTokensMax: number | null;
}

export const noSizes: LearnedSizes = {
  calibration: uncalibrated,
  overflows: 0,
  promptTokensMax: null,
};

export function learnFromBill(sizes: LearnedSizes, observation: Observation): LearnedSizes {
  return { ...sizes, calibration: learn(sizes.calibration, observation) };
}

export interface Overflow {
  /** Our estimate of the refused part, without calibration, beyond what the last bill said. */
  readonly estimatedTokens: number;
  /** The same part as the provider counted it. Null if it named no count. */
  readonly countedTokens: number | null;
  /** The limit that the provider named. Null if it named none. */
  readonly promptTokensMax: number | null;
  /** The limit as we knew it. */
  readonly knownTokensMax: number;
  /** A prompt of this size was accepted before: a lower limit cannot be true. */
  readonly acceptedTokens: number;
}

/** A refusal proves that an estimate was too low. Without a count the factor grows by a fixed step. */
const overflowStep = 1.1;
/** The factor stays below this, like that of bills. A larger error has another cause. */
const factorMax = 1.5;
/** A lower limit is a mistake of the message. */
const promptTokensLeast = 1_000;

export function learnFromOverflow(sizes: LearnedSizes, overflow: Overflow): LearnedSizes {
  const named = overflow.promptTokensMax ?? 0;
  const isPlausible = named >= Math.max(promptTokensLeast, overflow.acceptedTokens);
  const promptTokensMax = isPlausible ? named : null;
  const { calibration } = sizes;
  const factor = factorAfter(calibration, overflow, promptTokensMax);
  return {
    calibration: factor === calibration.factor ? calibration : startFrom(calibration, factor),
    overflows: sizes.overflows + 1,
    promptTokensMax: lower(sizes.promptTokensMax, promptTokensMax),
  };
}

function factorAfter(
  { factor }: Calibration,
  { estimatedTokens, countedTokens, knownTokensMax }: Overflow,
  promptTokensMax: number | null,
): number {
  const ratio = countedTokens === null ? 0 : countedTokens / Math.max(1, estimatedTokens);
  if (ratio > 0 && ratio <= factorMax) return Math.max(factor, ratio);
  // The limit was wrong, not the estimate.
  if (promptTokensMax !== null && promptTokensMax < knownTokensMax) return factor;
  return Math.min(factorMax, factor * overflowStep);
}

/** Tokens of a prompt: a known beginning, and an estimated rest. */
export function estimatePrompt(
  knownTokens: number,
  restTokens: number,
  sizes: LearnedSizes,
): number {
  return knownTokens + calibrate(restTokens, sizes.calibration);
}

/** A refusal only ever lowers a limit: a larger window may be out of reach for this account or by choice. */
export function withLearnedLimit(model: ModelFacts, { promptTokensMax }: LearnedSizes): ModelFacts {
  const { windowTokens, inputTokensMax } = model;
  if (promptTokensMax === null) return model;
  if (promptTokensMax >= windowTokens && promptTokensMax >= inputTokensMax) return model;
  return {
    ...model,
    windowTokens: Math.min(windowTokens, promptTokensMax),
    inputTokensMax: Math.min(inputTokensMax, promptTokensMax),
  };
}

/** What two sessions with the same model know together. The one that learned from more replies has the factor. */
export function joinSizes(one: LearnedSizes, other: LearnedSizes): LearnedSizes {
  const more = other.calibration.learned > one.calibration.learned ? other : one;
  const promptTokensMax = lower(one.promptTokensMax, other.promptTokensMax);
  return promptTokensMax === more.promptTokensMax ? more : { ...more, promptTokensMax };
}

/** From stored JSON. Missing or invalid values become the initial ones. */
export function readSizes(value: unknown): LearnedSizes {
  if (!isObject(value) || !isObject(value["calibration"])) return noSizes;
  const { overflows, promptTokensMax } = value;
  const { factor, base, recent, learned, ignored } = value["calibration"];
  if (!isFactor(factor)) return noSizes;
  return {
    calibration: {
      factor,
      // Sessions stored before there was a base go on from their factor.
      base: isFactor(base) ? base : factor,
      recent: Array.isArray(recent) ? recent.filter((miss) => Number.isFinite(miss)) : [],
      learned: isCount(learned) ? learned : 0,
      ignored: isCount(ignored) ? ignored : 0,
    },
    overflows: isCount(overflows) ? overflows : 0,
    promptTokensMax: isCount(promptTokensMax) && promptTokensMax > 0 ? promptTokensMax : null,
  };
}

function isFactor(value: unknown): value is number {
  return typeof value === "number" && value >= 0.5 && value <= 2;
}

function lower(one: number | null, other: number | null): number | null {
  return one === null ? other : other === null ? one : Math.min(one, other);
}
