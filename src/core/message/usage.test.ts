import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  coverage,
  generatedTokens,
  hitRate,
  noUsage,
  promptTokens,
  totalUsage,
  type Usage,
} from "./usage.ts";

const usage: Usage = {
  uncachedTokens: 100,
  cacheReadTokens: 800,
  cacheWriteTokens: { "5m": 60, "1h": 40 },
  outputTokens: 20,
  reasoningTokens: 5,
};

const tokens = fc.nat(10_000_000);
const anyUsage: fc.Arbitrary<Usage> = fc.record({
  uncachedTokens: tokens,
  cacheReadTokens: tokens,
  cacheWriteTokens: fc.record({ "5m": tokens, "1h": tokens, "30m": tokens }, { requiredKeys: [] }),
  outputTokens: tokens,
  reasoningTokens: tokens,
});

describe("usage (D-03, N-15, C-14)", () => {
  test("buckets are disjoint and sum to the prompt", () => {
    expect(promptTokens(usage)).toBe(1000);
    expect(generatedTokens(usage)).toBe(25);
  });

  test("hit rate and coverage are shares of the whole prompt", () => {
    expect(hitRate(usage)).toBe(0.8);
    expect(coverage(usage)).toBe(0.9);
  });

  test("ratios of nothing are null, not zero", () => {
    expect([hitRate(noUsage), coverage(noUsage)]).toEqual([null, null]);
  });

  test("a sum of calls keeps lifetimes apart", () => {
    const other = { ...noUsage, cacheWriteTokens: { "1h": 2, "30m": 3 } };
    expect(totalUsage([usage, other]).cacheWriteTokens).toEqual({ "5m": 60, "1h": 42, "30m": 3 });
  });

  test("a sum keeps a lifetime it does not know, from either side", () => {
    const odd: Usage = JSON.parse(
      '{"uncachedTokens":0,"cacheReadTokens":0,"cacheWriteTokens":{"2h":7},"outputTokens":0,"reasoningTokens":0}',
    );
    expect(totalUsage([odd, usage])).toEqual(totalUsage([usage, odd]));
    expect(promptTokens(totalUsage([usage, odd]))).toBe(1007);
  });

  test("the hit rate is never above 1, and sums do not depend on order (CF-B)", () => {
    fc.assert(
      fc.property(fc.array(anyUsage, { minLength: 1 }), (usages) => {
        const total = totalUsage(usages);
        const rate = hitRate(total);
        expect(rate === null || (rate >= 0 && rate <= 1)).toBe(true);
        expect(totalUsage(usages.toReversed())).toEqual(total);
        expect(promptTokens(total)).toBe(usages.reduce((sum, each) => sum + promptTokens(each), 0));
      }),
    );
  });
});
