import * as fc from "fast-check";
import { expect, test } from "vitest";
import { findCost } from "../core/models/cost.ts";
import { builtInCatalogue, listModels } from "../core/models/catalogue.ts";
import { generatedTokens, lifetimes, promptTokens, type Usage } from "../core/message/usage.ts";
import { resolveModel } from "../core/models/resolve-model.ts";
import { bandsOf } from "../edge/stores/rollups/price-bands.ts";
import { priceAlike, priceUncached, type AlikeCalls } from "./reprice.ts";

const noWrites = { "5m": 0, "30m": 0, "1h": 0, "12h": 0, "24h": 0 };
const at = Date.UTC(2026, 10, 15);

function alike(more: Partial<AlikeCalls>): AlikeCalls {
  return {
    uncachedTokens: 0,
    readTokens: 0,
    writtenTokens: noWrites,
    generatedTokens: 0,
    promptTokens: 1000,
    startMs: at,
    isWarm: false,
    ...more,
  };
}

const sonnet = resolveModel("claude-sonnet-4-6").facts;

test("each bucket has its own rate, writes of an hour too (D-12)", () => {
  const calls = alike({
    uncachedTokens: 1_000_000,
    readTokens: 1_000_000,
    writtenTokens: { ...noWrites, "5m": 1_000_000, "1h": 1_000_000 },
    generatedTokens: 1_000_000,
  });
  // $3 + $0.30 + $3.75 + $6 + $15; without a cache, four million tokens at $3, plus the output.
  expect(priceAlike(calls, sonnet)).toBe(28_050_000_000_000n);
  expect(priceUncached(calls, sonnet)).toBe(27_000_000_000_000n);
});

test("a bucket in use without a price makes the whole unknown, and an empty one does not", () => {
  const writes = { ...noWrites, "12h": 5 };
  expect(priceAlike(alike({ uncachedTokens: 1, writtenTokens: writes }), sonnet)).toBeNull();
  expect(priceAlike(alike({ uncachedTokens: 1 }), sonnet)).toBe(3_000_000n);
  const unpriced = resolveModel("claude-mythos-preview").facts;
  expect(priceAlike(alike({ uncachedTokens: 1 }), unpriced)).toBeNull();
  expect(priceUncached(alike({ uncachedTokens: 1 }), unpriced)).toBeNull();
});

test("bands are the lengths and the days at which some price changes", () => {
  const haiku = resolveModel("claude-haiku-5-5").facts;
  const sonnet55 = resolveModel("claude-sonnet-5-5").facts;
  expect(bandsOf([haiku, sonnet55]).fromMs).toContain(Date.UTC(2026, 9, 7));
  expect(bandsOf([haiku]).aboveTokens).toEqual([100_000]);
  expect(bandsOf([]).fromMs).toEqual([]);
});

// Goal: pricing the database's sums gives the same money as pricing each call. Method: random calls of one group.
test("calls between the same steps cost together what they cost one by one", () => {
  const models = listModels(builtInCatalogue).filter(({ prices }) => prices.kind === "priced");
  const count = fc.integer({ min: 0, max: 150_000 });
  const usage: fc.Arbitrary<Usage> = fc.record({
    uncachedTokens: count,
    cacheReadTokens: count,
    cacheWriteTokens: fc.record({ "5m": count, "1h": count }),
    outputTokens: count,
    reasoningTokens: count,
  });
  fc.assert(
    fc.property(fc.array(usage, { maxLength: 12 }), fc.constantFrom(...models), (usages, model) => {
      const { aboveTokens } = bandsOf(models);
      const tierOf = (used: Usage): number =>
        aboveTokens.filter((step) => promptTokens(used) > step).length;
      const tiers = Map.groupBy(usages, (used) => `${tierOf(used)} ${inUse(used)}`);
      for (const group of tiers.values()) {
        const costs = group.map((used) => findCost(used, model, { at }).cost?.totalPicoUsd ?? null);
        const total = costs.reduce<bigint | null>(
          (sum, cost) => (sum === null || cost === null ? null : sum + cost),
          0n,
        );
        expect(priceAlike(sumUp(group), model)).toBe(total);
      }
    }),
  );
});

function inUse({ cacheReadTokens, cacheWriteTokens }: Usage): string {
  return [cacheReadTokens, cacheWriteTokens["5m"] ?? 0, cacheWriteTokens["1h"] ?? 0]
    .map((tokens) => tokens > 0)
    .join();
}

function sumUp(usages: readonly Usage[]): AlikeCalls {
  const total = (tokens: (usage: Usage) => number): number =>
    usages.reduce((sum, usage) => sum + tokens(usage), 0);
  const written = Object.fromEntries(
    lifetimes.map((each) => [each, total(({ cacheWriteTokens }) => cacheWriteTokens[each] ?? 0)]),
  );
  return alike({
    uncachedTokens: total((usage) => usage.uncachedTokens),
    readTokens: total((usage) => usage.cacheReadTokens),
    writtenTokens: { ...noWrites, ...written },
    generatedTokens: total(generatedTokens),
    promptTokens: Math.max(0, ...usages.map(promptTokens)),
  });
}
