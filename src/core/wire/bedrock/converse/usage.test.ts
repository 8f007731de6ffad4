import { expect, test } from "vitest";
import { findUsage, readUsage } from "./usage.ts";

test("what was read and written stands beside the input, by lifetime", () => {
  expect(
    readUsage({
      inputTokens: 10,
      outputTokens: 5,
      totalTokens: 1115,
      cacheReadInputTokens: 800,
      cacheWriteInputTokens: 300,
      cacheDetails: [
        { ttl: "1h", inputTokens: 200 },
        { ttl: "5m", inputTokens: 100 },
      ],
    }),
  ).toEqual({
    usage: {
      uncachedTokens: 10,
      cacheReadTokens: 800,
      cacheWriteTokens: { "1h": 200, "5m": 100 },
      outputTokens: 5,
      reasoningTokens: 0,
    },
    isReported: true,
    reportsCache: true,
    warnings: [],
  });
});

test("a write without a lifetime lives for five minutes until the plan names one", () => {
  expect(readUsage({ inputTokens: 1, outputTokens: 1, cacheWriteInputTokens: 7 })).toMatchObject({
    usage: { cacheWriteTokens: { "5m": 7 } },
    unnamedWriteTokens: { tokens: 7, standsAs: "5m" },
  });
});

test("an absent count of the cache is unknown, and not zero", () => {
  expect(readUsage({ inputTokens: 1, outputTokens: 1 })).toMatchObject({ reportsCache: false });
  expect(readUsage({ inputTokens: 1, cacheReadInputTokens: 0 })).toMatchObject({
    reportsCache: true,
    usage: { cacheReadTokens: 0 },
  });
  expect(readUsage(undefined)).toMatchObject({ isReported: false, reportsCache: false });
});

test("the total counts more than its parts, and a difference is reported", () => {
  const details = [
    { ttl: "1h", inputTokens: 9 },
    { ttl: "5m", inputTokens: 9 },
  ];
  expect(
    readUsage({ inputTokens: 1, cacheWriteInputTokens: 10, cacheDetails: details }),
  ).toMatchObject({
    usage: { cacheWriteTokens: { "1h": 9, "5m": 1 } },
    warnings: ["cacheDetails add up to 18, cacheWriteInputTokens is 10"],
  });
});

test("what is no count is absent, with a warning", () => {
  const { usage, warnings } = readUsage({ inputTokens: -1, outputTokens: "7" });
  expect(usage).toMatchObject({ uncachedTokens: 0, outputTokens: 0 });
  expect(warnings).toEqual([
    "inputTokens is -1, taken as absent",
    "outputTokens is a string, taken as absent",
  ]);
});

test("the usage of an answer and of the last event of a stream is found", () => {
  const usage = { inputTokens: 1 };
  expect(findUsage({ usage, metrics: {} })).toBe(usage);
  expect(findUsage({ metadata: { usage } })).toBe(usage);
  expect(findUsage({ stopReason: "end_turn" })).toBeUndefined();
});
