import { expect, test } from "vitest";
import { estimateTokens } from "./estimate.ts";
import { tokenizers } from "../models/model-facts.ts";
import { priorWeights, readPriorWeights } from "./priors.ts";
import { noRawCount } from "./raw-count.ts";

const editCall = {
  ...noRawCount,
  textTokens: 20,
  inputTokens: 100,
  inputJsonTokens: 130,
  toolArguments: 3,
  toolUses: 1,
  capitals: 10,
  thinkingBlocks: 1,
  signatureCharacters: 400,
  replies: 1,
};

test.each([
  // 1.143 * 120 + 10.75 * 3 + 51.6 + 0.472 * 10 - 40.8 + 0.19 * 400 = 260.93
  ["claude-old", 261],
  // 1.61 * 150 + 132 - 185 + 0.272 * 400 = 297.3
  ["claude-new", 297],
  // 150 + 13 + 5
  ["o200k", 168],
  // 1.03 * 150 + 13 + 5 = 172.5
  ["cl100k", 173],
  // 1.26 * 150 + 40 + 0.25 * 400 + 5
  ["other", 334],
] as const)("an edit call takes %s %i tokens", (generation, tokens) => {
  expect(estimateTokens(editCall, generation)).toBe(tokens);
});

test("nothing takes no tokens, and no estimate is below zero", () => {
  for (const generation of tokenizers) {
    expect(estimateTokens(noRawCount, generation)).toBe(0);
    expect(estimateTokens({ ...noRawCount, thinkingBlocks: 1 }, generation)).toBe(0);
  }
});

test("every generation weighs text", () => {
  for (const generation of tokenizers) {
    expect(priorWeights(generation).textTokens).toBeGreaterThanOrEqual(1);
  }
});

test("a misspelt feature or a weight that is no number is refused", () => {
  expect(() => readPriorWeights({ texTokens: 1 }, "mine")).toThrow('unknown feature "texTokens"');
  expect(() => readPriorWeights({ textTokens: "1" }, "mine")).toThrow('mine.textTokens is "1"');
  expect(() => readPriorWeights(null, "mine")).toThrow("mine is null");
});
