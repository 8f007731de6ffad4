import { expect, test } from "vitest";
import { noUsage } from "../message/usage.ts";
import { attributeUsage, tierSizesOf } from "./tier-usage.ts";

const usedTokens = { T0: 100, T1: 200, T2: 0, T3: 300, T4: 50, T5: 50 };

test("tiers stand in the order of the prompt, without empty ones", () => {
  expect(tierSizesOf({ usedTokens, volatilePlace: "message-tail" })).toEqual([
    ["T0", 100],
    ["T1", 200],
    ["T3", 300],
    ["T4", 50],
    ["T5", 50],
  ]);
  const before = tierSizesOf({ usedTokens, volatilePlace: "system-tail" });
  expect(before.map(([tier]) => tier)).toEqual(["T0", "T1", "T5", "T3", "T4"]);
});

test("a bill is spread over the tiers from the start of the prompt, and adds up (C-14)", () => {
  const sizes = tierSizesOf({ usedTokens, volatilePlace: "message-tail" });
  const usage = {
    ...noUsage,
    cacheReadTokens: 800,
    cacheWriteTokens: { "5m": 500 },
    uncachedTokens: 100,
  };
  expect(attributeUsage(sizes, usage)).toEqual([
    { tier: "T0", readTokens: 200, writtenTokens: 0, uncachedTokens: 0 },
    { tier: "T1", readTokens: 400, writtenTokens: 0, uncachedTokens: 0 },
    { tier: "T3", readTokens: 200, writtenTokens: 400, uncachedTokens: 0 },
    { tier: "T4", readTokens: 0, writtenTokens: 100, uncachedTokens: 0 },
    { tier: "T5", readTokens: 0, writtenTokens: 0, uncachedTokens: 100 },
  ]);
});

test("a prompt without a count is attributed to no tier", () => {
  expect(attributeUsage([], { ...noUsage, uncachedTokens: 10 })).toEqual([]);
});
