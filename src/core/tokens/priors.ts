// Weights of each feature per tokenizer, before a model's replies taught us anything. Dated data.
import type { Tokenizer } from "../models/model-facts.ts";
import { StrataError } from "../strata-error.ts";
import file from "./data/priors.json" with { type: "json" };
import { rawFeatures, type RawFeature } from "./raw-count.ts";

/** Tokens per unit of each feature. */
export type PriorWeights = Readonly<Record<RawFeature, number>>;

export function priorWeights(tokenizer: Tokenizer): PriorWeights {
  return builtIn[tokenizer];
}

/** Reads one generation's weights. A feature without a weight counts 0. */
export function readPriorWeights(value: unknown, place: string): PriorWeights {
  const fields = readFields(value, place);
  const unknown = Object.keys(fields).find((key) => !rawFeatures.some((name) => name === key));
  if (unknown !== undefined) {
    throw unfit(`${place} has an unknown feature "${unknown}"`, rawFeatures.join(", "));
  }
  const weightOf = (feature: RawFeature): number => {
    const weight = fields[feature] ?? 0;
    if (typeof weight === "number" && Number.isFinite(weight)) return weight;
    throw unfit(`${place}.${feature} is ${JSON.stringify(weight)}`, "a number");
  };
  return {
    textTokens: weightOf("textTokens"),
    inputTokens: weightOf("inputTokens"),
    inputJsonTokens: weightOf("inputJsonTokens"),
    toolArguments: weightOf("toolArguments"),
    toolUses: weightOf("toolUses"),
    toolResults: weightOf("toolResults"),
    smallLetters: weightOf("smallLetters"),
    capitalRuns: weightOf("capitalRuns"),
    digits: weightOf("digits"),
    digitRuns: weightOf("digitRuns"),
    markRuns: weightOf("markRuns"),
    lineBreakRuns: weightOf("lineBreakRuns"),
    ideographs: weightOf("ideographs"),
    otherLetters: weightOf("otherLetters"),
    symbols: weightOf("symbols"),
    surrogates: weightOf("surrogates"),
    thinkingBlocks: weightOf("thinkingBlocks"),
    signatureCharacters: weightOf("signatureCharacters"),
    imagePixels: weightOf("imagePixels"),
    imagesOfUnknownSize: weightOf("imagesOfUnknownSize"),
    documents: weightOf("documents"),
    replies: weightOf("replies"),
  };
}

function readFields(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null) return { ...value };
  throw unfit(`${place} is ${JSON.stringify(value)}`, "an object of weights");
}

function unfit(problem: string, wanted: string): StrataError {
  return new StrataError("config-invalid", problem, `expected ${wanted}`);
}

const builtIn: Readonly<Record<Tokenizer, PriorWeights>> = {
  "claude-old": readPriorWeights(file.generations["claude-old"].weights, "claude-old"),
  "claude-new": readPriorWeights(file.generations["claude-new"].weights, "claude-new"),
  o200k: readPriorWeights(file.generations.o200k.weights, "o200k"),
  cl100k: readPriorWeights(file.generations.cl100k.weights, "cl100k"),
  other: readPriorWeights(file.generations.other.weights, "other"),
};
