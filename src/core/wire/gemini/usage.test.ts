import { expect, test } from "vitest";
import { promptTokens } from "../../message/usage.ts";
import { findUsage, readAnswer } from "./schema.ts";
import { readUsage } from "./usage.ts";

test("the prompt holds what was read; thoughts and the words of the reply are apart", () => {
  const { usage, isReported, reportsCache, warnings } = readUsage({
    promptTokenCount: 1000,
    cachedContentTokenCount: 800,
    candidatesTokenCount: 20,
    thoughtsTokenCount: 30,
    toolUsePromptTokenCount: 5,
    totalTokenCount: 1055,
  });
  expect(usage).toEqual({
    uncachedTokens: 205,
    cacheReadTokens: 800,
    cacheWriteTokens: {},
    outputTokens: 20,
    reasoningTokens: 30,
  });
  expect(promptTokens(usage) + usage.outputTokens + usage.reasoningTokens).toBe(1055);
  expect([isReported, reportsCache, warnings]).toEqual([true, true, []]);
});

test("without a count of reads, reads are unknown and not 0", () => {
  expect(readUsage({ promptTokenCount: 50, candidatesTokenCount: 5 })).toMatchObject({
    isReported: true,
    reportsCache: false,
    usage: { uncachedTokens: 50, cacheReadTokens: 0 },
  });
  expect(readUsage({ promptTokenCount: 50, cachedContentTokenCount: 0 }).reportsCache).toBe(true);
});

test.each([[undefined], [null], [{}], ["50"], [[]]])("%j is no usage", (value) => {
  expect(readUsage(value)).toMatchObject({
    isReported: false,
    reportsCache: false,
    warnings: ["the reply reports no usage"],
  });
});

test("what is no count is named and taken as absent; more read than sent is corrected", () => {
  const { usage, warnings } = readUsage({
    promptTokenCount: 10,
    cachedContentTokenCount: 15,
    candidatesTokenCount: -1,
    thoughtsTokenCount: "7",
  });
  expect(usage).toMatchObject({ uncachedTokens: 0, cacheReadTokens: 10, outputTokens: 0 });
  expect(warnings).toEqual([
    "candidatesTokenCount is no count (-1) and taken as absent",
    "thoughtsTokenCount is no count (string) and taken as absent",
    "15 tokens read of a prompt of 10: the rest is left out",
  ]);
});

test("it stands in a member of its own", () => {
  const usageMetadata = { promptTokenCount: 3 };
  expect(findUsage({ usageMetadata })).toEqual(usageMetadata);
  expect(findUsage({ usage: {} })).toBeUndefined();
  expect(readAnswer({ usageMetadata: null }, "{}").usage).toEqual({});
});
