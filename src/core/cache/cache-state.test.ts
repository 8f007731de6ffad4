import { describe, expect, test } from "vitest";
import { createRuler, isLive, keptMsOf } from "./cache-state.ts";
import { blocksOf, entryAt, gpt, nowMs, sonnet } from "./test-kit.ts";

test("an entry lives until the end of its lifetime, that moment included", () => {
  expect(isLive(entryAt(0, "5m", 300_000), nowMs)).toBe(true);
  expect(isLive(entryAt(0, "5m", 300_001), nowMs)).toBe(false);
  expect(isLive(entryAt(0, "1h", 300_001), nowMs)).toBe(true);
});

test("a lifetime is as long as the provider says", () => {
  expect(keptMsOf("1h", sonnet.cache)).toBe(3_600_000);
  expect(keptMsOf("30m", gpt.cache)).toBe(1_800_000);
  expect(keptMsOf("24h", sonnet.cache)).toBe(0);
});

describe("a ruler", () => {
  const blocks = blocksOf("static 1000", "user 500", "assistant 500", "user 100");

  test("counts as estimated before any reply", () => {
    expect([0, 1, 3].map(createRuler(blocks, null))).toEqual([1000, 1500, 2100]);
  });

  test("counts from the tokens in a reply, and spreads the difference before them", () => {
    const ruler = createRuler(blocks, { key: "k1", block: 1, tokens: 1800 });
    expect([0, 1, 2, 3].map(ruler)).toEqual([1200, 1800, 2300, 2400]);
  });

  test("does not use the reply to another prompt", () => {
    const ruler = createRuler(blocks, { key: "other", block: 1, tokens: 1800 });
    expect([0, 1].map(ruler)).toEqual([1000, 1500]);
  });
});
