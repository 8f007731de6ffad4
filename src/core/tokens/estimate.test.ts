import { expect, test } from "vitest";
import { estimateTokens, weighTokens } from "./estimate.ts";
import { tokenizers } from "../models/model-facts.ts";
import { loadO200k } from "./o200k/counter.ts";
import { readPriorWeights } from "./priors.ts";
import { countText, noRawCount, rawFeatures } from "./raw-count.ts";

const counter = await loadO200k();

const editCall = {
  ...noRawCount,
  textTokens: 20,
  inputTokens: 100,
  inputJsonTokens: 130,
  toolArguments: 3,
  toolUses: 1,
  smallLetters: 300,
  capitalRuns: 10,
  digits: 12,
  digitRuns: 4,
  markRuns: 30,
  lineBreakRuns: 8,
  thinkingBlocks: 1,
  signatureCharacters: 400,
  replies: 1,
};

test.each([
  // Text 12.14, input 65.2, letters 29.79, capitals 5.85, digits 3.51, marks 16.44, line ends 5.12,
  // arguments 26.34, call 49, thinking 0.196 * 400 - 38.7 = 39.7
  ["claude-old", 253],
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

// Goal: no kind of text is forgotten by the weights. Method: a sample of each, against its o200k tokens.
test.each([
  [
    "prose",
    "The cache keeps what a call has sent, and the next call reads it for a tenth of the price.",
  ],
  [
    "code",
    "export function endOf(block: number): number {\n  return block < 0 ? 0 : ends[block];\n}",
  ],
  ["JSON", '{"id": 17, "tags": ["a", "b"], "range": {"from": 1024, "to": 4096}}'],
  ["a table", "| name | ms |\n| ---- | -- |\n| read | 12 |\n| plan | 34 |"],
  ["base64", "d8Kq2vXo7LmPz0RtYbW4nHc9JxEuG5sTf1aZ6iQyV3wDkM0pNrCgUhBt4Xej"],
  ["Chinese", "在这种情况下，我们需要先检查配置文件是否存在，然后再决定如何处理错误。"],
  ["Russian", "Эта функция читает файл настроек и возвращает значения по умолчанию."],
  ["emoji", "😀🎉👍🔥💡🚀"],
])("%s takes Claude about as many tokens as o200k, or up to twice as many", (_kind, text) => {
  const count = countText(text, counter);
  for (const generation of ["claude-old", "claude-new"] as const) {
    const tokens = estimateTokens(count, generation);
    expect(tokens).toBeGreaterThan(0.9 * count.textTokens);
    expect(tokens).toBeLessThan(2 * count.textTokens);
  }
});

test("a misspelt feature or a weight that is no number is refused", () => {
  expect(() => readPriorWeights({ texTokens: 1 }, "mine")).toThrow('unknown feature "texTokens"');
  expect(() => readPriorWeights({ textTokens: "1" }, "mine")).toThrow('mine.textTokens is "1"');
  expect(() => readPriorWeights(null, "mine")).toThrow("mine is null");
});

test.each(rawFeatures)("an estimate counts the feature %s by its weight", (feature) => {
  const weights = readPriorWeights({ [feature]: 3 }, "weights");
  expect(weighTokens({ ...noRawCount, [feature]: 7 }, weights)).toBe(21);
});
