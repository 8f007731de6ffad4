// The model of an id on Bedrock: a model's, an inference profile's, or the ARN of one.
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { invalid, notSimulated } from "./refusal.ts";

export interface AddressedModel {
  readonly facts: ModelFacts;
}

/** Ids in the spelling of other routes are refused. */
export function modelOf(requested: string): AddressedModel {
  const isSpelledSo = /^(?:[a-z-]+\.)?[a-z0-9]+\.[a-z]|^arn:aws[a-z-]*:bedrock:/.test(requested);
  const found = isSpelledSo ? findModel(requested) : null;
  if (found === null || found.route !== "bedrock" || found.matched === "dotted version")
    throw invalid("The provided model identifier is invalid.");
  const { facts } = found;
  if (facts.provider !== "anthropic") throw notSimulated(requested);
  return { facts };
}
