// From the raw count of a message to an estimate for one tokenizer.
import type { Tokenizer } from "../models/model-facts.ts";
import { priorWeights, type PriorWeights } from "./priors.ts";
import { rawFeatures, type RawCount } from "./raw-count.ts";

/** Tokens by the priors alone. A calibration multiplies this result, never the stored count. */
export function estimateTokens(count: RawCount, generation: Tokenizer): number {
  return weighTokens(count, priorWeights(generation));
}

export function weighTokens(count: RawCount, weights: PriorWeights): number {
  let tokens = 0;
  for (const feature of rawFeatures) tokens += weights[feature] * count[feature];
  return Math.max(0, Math.round(tokens));
}
