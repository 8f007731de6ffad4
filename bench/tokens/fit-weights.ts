// Fits the weights of a tokenizer's features to billed differences, from a prior that rare features keep.
import type { RawFeature } from "../../src/core/tokens/raw-count.ts";
import type { Difference, FirstPrompt } from "./differences.ts";

/** A weight before any bill was seen, and how far off it may well be. */
interface Prior {
  readonly weight: number;
  readonly spread: number;
}

/**
 * o200k tokens alone, as public fits give them: 1.11 for each token of text, 85 for a tool call with its result, thinking
 * by its signature. What a text is made of starts with no say of its own.
 */
const priors: Readonly<Partial<Record<RawFeature, Prior>>> = {
  textTokens: { weight: 1.11, spread: 0.5 },
  inputTokens: { weight: 1.11, spread: 0.5 },
  toolArguments: { weight: 0, spread: 10 },
  toolUses: { weight: 70, spread: 30 },
  toolResults: { weight: 15, spread: 10 },
  smallLetters: { weight: 0, spread: 0.2 },
  capitalRuns: { weight: 0, spread: 0.5 },
  digits: { weight: 0, spread: 0.5 },
  digitRuns: { weight: 0, spread: 0.5 },
  markRuns: { weight: 0, spread: 0.5 },
  lineBreakRuns: { weight: 0, spread: 0.5 },
  thinkingBlocks: { weight: -36, spread: 20 },
  signatureCharacters: { weight: 0.2, spread: 0.05 },
};

/**
 * Recordings hold few of these, so their texts shall count as much as by the prior: a weight makes up for what a token
 * of text lost. In o200k tokens per character.
 */
const rareTokens: Readonly<Partial<Record<RawFeature, number>>> = {
  ideographs: 0.6,
  otherLetters: 0.3,
  symbols: 0.75,
  surrogates: 0.75,
};
const rareSpread = 0.2;

/** The usual relative error of a difference. Larger ones weigh less, so that no odd bill bends the fit. */
const usualError = 0.03;
const rounds = 60;

export type Weights = Readonly<Partial<Record<RawFeature, number>>>;

/** Few sessions record their first prompt whole, and appended messages are mostly code and output of tools. */
const firstPromptRows = 100;

/** `fixed`: weights that are not fitted, such as a vendor's rule for images. */
export function fitWeights(
  differences: readonly Difference[],
  firstPrompts: readonly FirstPrompt[],
  fixed: Weights,
): Weights {
  const features = [...featuresOf(priors), ...featuresOf(rareTokens)];
  const rows = [
    ...differences.map((difference) => toRow(difference, features, fixed)),
    ...firstPrompts.map((prompt) => ({
      ...toRow({ ...prompt, knownTokens: 0 }, features, fixed),
      times: firstPromptRows,
    })),
  ];
  let weights = features.map((feature) => priorOf(feature, 0).weight);
  for (let round = 0; round < rounds; round += 1) {
    const lost = (priors.textTokens?.weight ?? 0) - (weights[features.indexOf("textTokens")] ?? 0);
    const starts = features.map((feature) => priorOf(feature, lost));
    weights = solve(...normalEquations(rows, weights, starts));
  }
  return Object.fromEntries(
    features.map((feature, index) => [feature, rounded(weights[index] ?? 0)]),
  );
}

function featuresOf(record: Readonly<Partial<Record<RawFeature, unknown>>>): RawFeature[] {
  return (Object.keys(record) as RawFeature[]).filter((feature) => record[feature] !== undefined);
}

function priorOf(feature: RawFeature, lostTextWeight: number): Prior {
  const rare = rareTokens[feature];
  if (rare !== undefined) return { weight: rare * lostTextWeight, spread: rareSpread };
  return priors[feature] ?? { weight: 0, spread: 1 };
}

/** Both as shares of the billed tokens, because relative errors count. */
interface Row {
  readonly counts: readonly number[];
  readonly tokens: number;
  /** How many rows it counts as; one by default. */
  readonly times?: number;
}

function toRow(
  { rest, billedTokens, knownTokens }: Pick<Difference, "rest" | "billedTokens" | "knownTokens">,
  features: readonly RawFeature[],
  fixed: Weights,
): Row {
  const fixedTokens = featuresOf(fixed).reduce(
    (sum, feature) => sum + (fixed[feature] ?? 0) * rest[feature],
    0,
  );
  return {
    counts: features.map((feature) => rest[feature] / billedTokens),
    tokens: (billedTokens - knownTokens - fixedTokens) / billedTokens,
  };
}

/** Least squares with the prior as one more observation per weight; rows that are far off weigh less. */
function normalEquations(
  rows: readonly Row[],
  weights: readonly number[],
  starts: readonly Prior[],
): [number[][], number[]] {
  const left = starts.map(({ spread }, index) =>
    starts.map((_, other) => (other === index ? (usualError / spread) ** 2 : 0)),
  );
  const right = starts.map(({ weight, spread }) => weight * (usualError / spread) ** 2);
  for (const { counts, tokens, times = 1 } of rows) {
    const error = Math.abs(tokens - counts.reduce((sum, x, i) => sum + x * (weights[i] ?? 0), 0));
    const say = (times * usualError) / Math.max(error, usualError);
    for (const [index, x] of counts.entries()) {
      const row = left[index];
      if (row === undefined || x === 0) continue;
      right[index] = (right[index] ?? 0) + say * x * tokens;
      for (const [other, y] of counts.entries()) row[other] = (row[other] ?? 0) + say * x * y;
    }
  }
  return [left, right];
}

/** Gaussian elimination. The matrix is positive definite: no pivots are needed. */
function solve(matrix: number[][], vector: number[]): number[] {
  for (const [at, pivotRow] of matrix.entries()) {
    const pivot = pivotRow[at] ?? 1;
    for (let below = at + 1; below < matrix.length; below += 1) {
      const row = matrix[below] ?? [];
      const share = (row[at] ?? 0) / pivot;
      for (let column = at; column < row.length; column += 1) {
        row[column] = (row[column] ?? 0) - share * (pivotRow[column] ?? 0);
      }
      vector[below] = (vector[below] ?? 0) - share * (vector[at] ?? 0);
    }
  }
  const solution = vector.map(() => 0);
  for (let at = matrix.length - 1; at >= 0; at -= 1) {
    const row = matrix[at] ?? [];
    const after = solution.reduce((sum, x, i) => (i > at ? sum + x * (row[i] ?? 0) : sum), 0);
    solution[at] = ((vector[at] ?? 0) - after) / (row[at] ?? 1);
  }
  return solution;
}

/** Three digits are more than a fit can tell. */
function rounded(weight: number): number {
  return Number(weight.toPrecision(3));
}
