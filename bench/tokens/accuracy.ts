// Error of the estimates for tokens appended between two calls, using only earlier data.
import { basename } from "node:path";
import {
  calibrate,
  type Calibration,
  learn,
  uncalibrated,
} from "../../src/core/tokens/calibration.ts";
import { estimateTokens } from "../../src/core/tokens/estimate.ts";
import type { TextCounter } from "../../src/core/tokens/o200k/counter.ts";
import { splitByRepository } from "../../harness/traces.ts";
import { deltaTokensMin, type Difference, differencesIn } from "./differences.ts";

export interface Accuracy extends Pick<Difference, "family" | "isHidden"> {
  /** Whether the weights were fitted to sessions of this half of the given traces. */
  readonly isTuned: boolean;
  /** |estimate - billed| / billed for the appended messages. */
  readonly cold: number;
  /** The same, with the reply's tokens estimated instead of taken from its usage. */
  readonly contentOnly: number;
  readonly calibrated: number;
  /** |estimate - billed| / billed for the whole prompt. */
  readonly anchoredTotal: number;
}

export interface AccuracyReport {
  readonly results: readonly Accuracy[];
  /** Requests not measured, by reason. */
  readonly skipped: Readonly<Record<string, number>>;
  readonly sessions: number;
}

/** Calibrations restart in every session and are per model. */
export async function measureAccuracy(
  folder: string,
  counter: TextCounter,
  progress: (line: string) => void,
): Promise<AccuracyReport> {
  const results: Accuracy[] = [];
  const skipped: Record<string, number> = {};
  const files = splitByRepository(folder).flatMap((half, index) =>
    half.files.map((file) => ({ file, isTuned: index === 0 })),
  );
  for (const [place, { file, isTuned }] of files.entries()) {
    if (place % 10 === 0) progress(`session ${place + 1} of ${files.length}: ${basename(file)}`);
    const measure = createMeasure();
    // One session at a time: they are large, and order within each matters.
    // oxlint-disable-next-line no-await-in-loop
    for await (const difference of differencesIn(file, counter)) {
      const outcome = typeof difference === "string" ? difference : measure(difference);
      if (typeof outcome === "string") skipped[outcome] = (skipped[outcome] ?? 0) + 1;
      else results.push({ ...outcome, isTuned });
    }
  }
  return { results, skipped, sessions: files.length };
}

/** Takes the differences of one session in order; returns the measurement, or why there is none. */
function createMeasure(): (difference: Difference) => Omit<Accuracy, "isTuned"> | string {
  const calibrations = new Map<string, Calibration>();

  return ({ model, tokenizer, family, isHidden, rest, whole, ...tokens }) => {
    const { billedTokens, knownTokens, promptTokens } = tokens;
    const estimatedTokens = estimateTokens(rest, tokenizer);
    const calibration = calibrations.get(model) ?? uncalibrated;
    if (billedTokens > knownTokens) {
      const observation = { estimatedTokens, billedTokens: billedTokens - knownTokens };
      calibrations.set(model, learn(calibration, observation));
    }
    if (billedTokens <= deltaTokensMin) return `appended ${deltaTokensMin} tokens or fewer`;
    const cold = Math.abs(knownTokens + estimatedTokens - billedTokens);
    const contentOnly = Math.abs(estimateTokens(whole, tokenizer) - billedTokens);
    const calibrated = Math.abs(
      knownTokens + calibrate(estimatedTokens, calibration) - billedTokens,
    );
    return {
      family,
      isHidden,
      cold: cold / billedTokens,
      contentOnly: contentOnly / billedTokens,
      calibrated: calibrated / billedTokens,
      anchoredTotal: calibrated / promptTokens,
    };
  };
}
