import * as fc from "fast-check";
import { expect, test } from "vitest";
import { lifetimes, noUsage, promptTokens, type Usage } from "../message/usage.ts";
import { StrataError } from "../strata-error.ts";
import { listModels } from "./catalogue.ts";
import { costOf, findCost, savedTokens, savingsOverNoCache } from "./cost.ts";
import { formatUsd } from "./pico-usd.ts";
import { parsePrices } from "./prices.ts";
import { resolveModel } from "./resolve-model.ts";

const at = "2026-11-15";
const facts = (id: string) => resolveModel(id).facts;
const usage = (part: Partial<Usage>): Usage => ({ ...noUsage, ...part });

test("each bucket is billed at its own rate, writes of five minutes and of one hour apart", () => {
  const cost = costOf(
    {
      uncachedTokens: 1_000_000,
      cacheReadTokens: 1_000_000,
      cacheWriteTokens: { "5m": 1_000_000, "1h": 1_000_000 },
      outputTokens: 1_000_000,
      reasoningTokens: 1_000_000,
    },
    facts("claude-sonnet-5-5"),
    { at },
  );
  expect(formatUsd(cost.uncachedPicoUsd)).toBe("$2");
  expect(formatUsd(cost.readPicoUsd)).toBe("$0.1");
  expect(formatUsd(cost.writePicoUsd["5m"] ?? 0n)).toBe("$2.5");
  expect(formatUsd(cost.writePicoUsd["1h"] ?? 0n)).toBe("$4");
  expect(formatUsd(cost.outputPicoUsd)).toBe("$10");
  expect(formatUsd(cost.reasoningPicoUsd)).toBe("$10");
  expect(formatUsd(cost.totalPicoUsd)).toBe("$28.6");
  expect(cost.applied).toMatchObject({ from: "2026-10-07", aboveTokens: null });
});

test("one dollar per million tokens is one million pico-dollars per token", () => {
  expect(costOf(usage({ uncachedTokens: 1 }), facts("claude-haiku-4-5"), { at }).totalPicoUsd).toBe(
    1_000_000n,
  );
});

test("the price of the day of the call applies", () => {
  const read = usage({ cacheReadTokens: 1_000_000 });
  const on = (day: string | number) =>
    formatUsd(costOf(read, facts("claude-sonnet-5-5"), { at: day }).totalPicoUsd);
  expect(on("2026-09-28")).toBe("$0.2");
  expect(on("2026-10-06T23:59:59Z")).toBe("$0.2");
  expect(on("2026-10-07T00:00:00Z")).toBe("$0.1");
  expect(on(1_791_331_199_999)).toBe("$0.2");
  expect(on(1_791_331_200_000)).toBe("$0.1");
  expect(on("2020-01-01")).toBe("$0.2");
});

const tiers = [
  ["claude-haiku-5-5", 100_000, "$0.01", "$0.0500005"],
  ["gpt-5.5", 272_000, "$1.36", "$2.72001"],
  ["gemini-3.1-pro-preview", 200_000, "$0.4", "$0.800004"],
  ["grok-4.7", 200_000, "$0.4", "$0.800004"],
  ["MiniMax-M3", 512_000, "$0.1536", "$0.3072006"],
  ["claude-sonnet-4-5", 200_000, "$0.6", "$1.200006"],
  ["claude-sonnet-4-20250514", 200_000, "$0.6", "$1.200006"],
] as const;

test.each(tiers)("%s costs more above %i prompt tokens, not at them", (id, limit, below, above) => {
  const price = (uncachedTokens: number) =>
    formatUsd(costOf(usage({ uncachedTokens }), facts(id), { at }).totalPicoUsd);
  expect(price(limit)).toBe(below);
  expect(price(limit + 1)).toBe(above);
});

const haikuCost = (cacheReadTokens: number) =>
  costOf(
    usage({
      uncachedTokens: 10_000,
      cacheReadTokens,
      cacheWriteTokens: { "5m": 20_000, "1h": 10_000 },
      outputTokens: 1000,
    }),
    facts("claude-haiku-5-5"),
    { at },
  );

test("read and written tokens count towards the tier, and the whole request moves to it", () => {
  expect(haikuCost(60_000).applied.aboveTokens).toBeNull();
  expect(haikuCost(60_001).applied.aboveTokens).toBe(100_000);
  // 10,000 x 0.10 + 60,000 x 0.01 + 20,000 x 0.125 + 10,000 x 0.20 + 1,000 x 0.50 dollars per million.
  expect(formatUsd(haikuCost(60_000).totalPicoUsd)).toBe("$0.0066");
  expect(formatUsd(haikuCost(60_001).totalPicoUsd)).toBe("$0.03300005");
});

test("above 272,000 tokens input, reads and writes double and output costs half more", () => {
  const { rates } = costOf(usage({ uncachedTokens: 272_001 }), facts("gpt-6.1-sol"), {
    at,
  }).applied;
  expect(rates).toEqual({
    inputPicoUsd: 4_000_000n,
    outputPicoUsd: 15_000_000n,
    readPicoUsd: 200_000n,
    writePicoUsd: { "30m": 5_000_000n, "12h": null },
  });
});

const opusCost = (day: string) =>
  costOf(usage({ uncachedTokens: 250_000 }), facts("claude-opus-4-6"), { at: day });

test("Opus 4.6 had a higher price above 200,000 tokens until 2026-03-13", () => {
  expect(formatUsd(opusCost("2026-03-12").totalPicoUsd)).toBe("$2.5");
  expect(formatUsd(opusCost("2026-03-13").totalPicoUsd)).toBe("$1.25");
});

test("what has no price is an error, and never zero", () => {
  const unpriced = [
    [facts("claude-mythos-preview"), usage({ uncachedTokens: 1 }), "none of our sources"],
    [facts("gpt-6.1-sol"), usage({ cacheWriteTokens: { "12h": 1 } }), "cache writes of 12h"],
    [facts("claude-opus-5"), usage({ cacheWriteTokens: { "30m": 1 } }), "cache writes of 30m"],
    [facts("gpt-4"), usage({ cacheReadTokens: 1 }), "cache reads"],
    [
      facts("openrouter/deepseek/deepseek-v4-flash"),
      usage({ outputTokens: 1 }),
      "hosts on OpenRouter",
    ],
  ] as const;
  for (const [model, used, reason] of unpriced) {
    expect(() => costOf(used, model, { at })).toThrowError(StrataError);
    expect(() => costOf(used, model, { at })).toThrowError(reason);
    expect(findCost(used, model, { at })).toMatchObject({ cost: null });
  }
});

// Usages come from replies and files, so they may contain any lifetime.
const wrote = (lifetime: string, tokens: number): Usage => ({
  ...noUsage,
  cacheWriteTokens: JSON.parse(`{"${lifetime}":${tokens}}`) as Usage["cacheWriteTokens"],
});

test.each(["2h", "7d", "constructor", "__proto__"])(
  "tokens written for %s are never free: such a write has no price",
  (lifetime) => {
    const used = wrote(lifetime, 1_000_000);
    expect(findCost(used, facts("claude-opus-5"), { at })).toEqual({
      cost: null,
      reason: `it has no price for cache writes of ${lifetime}`,
    });
    for (const price of [costOf, savingsOverNoCache])
      expect(() => price(used, facts("claude-opus-5"), { at })).toThrowError(
        expect.objectContaining({ code: "model-unpriced" }),
      );
  },
);

const noCounts = [
  ["uncachedTokens", usage({ uncachedTokens: Number.NaN }), "NaN"],
  ["uncachedTokens", usage({ uncachedTokens: -1 }), "-1"],
  ["cacheReadTokens", usage({ cacheReadTokens: 0.5 }), "0.5"],
  ["cacheWriteTokens.1h", usage({ cacheWriteTokens: { "1h": 2 ** 53 } }), "9007199254740992"],
  ["cacheWriteTokens.2h", wrote("2h", -5), "-5"],
  ["outputTokens", usage({ outputTokens: Infinity }), "Infinity"],
  ["reasoningTokens", usage({ reasoningTokens: -0.1 }), "-0.1"],
  [
    "prompt as a whole",
    usage({ uncachedTokens: Number.MAX_SAFE_INTEGER, cacheReadTokens: 1 }),
    "9007199254740992",
  ],
] as const;

test.each(noCounts)("a wrong %s is refused by its name", (bucket, used, shown) => {
  const refusal = expect.objectContaining({
    code: "input-invalid",
    message: `the usage's ${bucket} is ${shown}, which is not a token count`,
  });
  for (const id of ["claude-opus-5", "claude-mythos-preview"]) {
    expect(() => findCost(used, facts(id), { at })).toThrowError(refusal);
    expect(() => costOf(used, facts(id), { at })).toThrowError(refusal);
  }
});

test("a call of M3 that wrote to the cache has a price", () => {
  const used = usage({ cacheWriteTokens: { "5m": 1_000_000 } });
  const price = (id: string) => formatUsd(costOf(used, facts(id), { at }).totalPicoUsd);
  expect([price("MiniMax-M3"), price("MiniMax-M3.1-Flash"), price("MiniMax-M2.7")]).toEqual([
    "$0.6",
    "$0.15",
    "$0.375",
  ]);
});

test("an empty bucket needs no price", () => {
  const used = usage({ uncachedTokens: 10, cacheWriteTokens: { "12h": 0 } });
  expect(costOf(used, facts("gpt-6.1-sol"), { at }).totalPicoUsd).toBe(20_000_000n);
  expect(costOf(wrote("2h", 0), facts("gpt-6.1-sol"), { at }).totalPicoUsd).toBe(0n);
});

test("savings over no cache may be below zero", () => {
  const opus = facts("claude-opus-5");
  const read = usage({ cacheReadTokens: 1_000_000 });
  const written = usage({ cacheWriteTokens: { "1h": 1_000_000 } });
  expect(formatUsd(savingsOverNoCache(read, opus, { at }))).toBe("$4.5");
  expect(formatUsd(savingsOverNoCache(written, opus, { at }))).toBe("-$5");
});

const count = fc.integer({ min: 0, max: 20_000 });
const anyUsage: fc.Arbitrary<Usage> = fc.record({
  uncachedTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: fc.record({ "5m": count, "1h": count }),
  outputTokens: count,
  reasoningTokens: count,
});
const claudeIds = listModels()
  .filter((model) => model.provider === "anthropic" && model.cache.marking === "explicit")
  .filter((model) => model.prices.kind === "priced")
  .map((model) => model.id);

// Every kind of call: prompts on both sides of the tiers, writes of each lifetime the model takes, days
// before and after price changes.
const large = fc.integer({ min: 0, max: 200_000 });
const anyCall = fc
  .constantFrom(...listModels().filter((model) => model.prices.kind === "priced"))
  .chain((model) => {
    const rates = model.prices.kind === "priced" ? model.prices.rows[0]?.rates : undefined;
    const priced = lifetimes.filter(
      (lifetime) => typeof rates?.writePicoUsd[lifetime] === "bigint",
    );
    return fc.record({
      model: fc.constant(model),
      at: fc.constantFrom("2025-01-01", "2026-09-01", "2026-11-15", "2027-06-01"),
      // The keys come in any order.
      writes: fc
        .shuffledSubarray(priced)
        .chain((some) =>
          fc.tuple(...some.map((lifetime) => fc.tuple(fc.constant(lifetime), large))),
        ),
      uncachedTokens: large,
      cacheReadTokens: rates?.readPicoUsd == null ? fc.constant(0) : large,
      outputTokens: count,
      reasoningTokens: count,
    });
  });

test("the order of calls and of written lifetimes never changes a total, across tiers, days and models", () => {
  const tiersSeen = new Set<number | null>();
  const total = (
    calls: readonly (typeof anyCall extends fc.Arbitrary<infer Call> ? Call : never)[],
  ) =>
    calls.reduce((sum, { model, at: day, writes, ...buckets }) => {
      const used = { ...buckets, cacheWriteTokens: Object.fromEntries(writes) };
      const cost = costOf(used, model, { at: day });
      tiersSeen.add(cost.applied.aboveTokens);
      return sum + cost.totalPicoUsd;
    }, 0n);
  fc.assert(
    fc.property(
      fc
        .array(anyCall, { maxLength: 20 })
        .chain((calls) =>
          fc.tuple(
            fc.constant(calls),
            fc.shuffledSubarray(calls, { minLength: calls.length, maxLength: calls.length }),
          ),
        ),
      ([calls, shuffled]) => {
        const turned = shuffled.map((call) => ({ ...call, writes: call.writes.toReversed() }));
        expect(total(turned)).toBe(total(calls));
      },
    ),
  );
  expect(tiersSeen).toContain(null);
  expect(tiersSeen).toContain(200_000);
  expect(tiersSeen).toContain(272_000);
});

test("buckets at equal rates cost what the same tokens cost as plain input", () => {
  const price = fc
    .integer({ min: 1, max: 100_000_000 })
    .map((millionths) => millionths / 1_000_000);
  fc.assert(
    fc.property(anyUsage, price, (used, input) => {
      const flat = {
        input: input.toFixed(6),
        output: input.toFixed(6),
        read: input.toFixed(6),
        write: { "5m": input.toFixed(6), "1h": input.toFixed(6) },
      };
      const model = { id: "flat", prices: parsePrices({ prices: [flat] }, "test") };
      const tokens = promptTokens(used) + used.outputTokens + used.reasoningTokens;
      const plain = costOf(usage({ uncachedTokens: tokens }), model, { at });
      expect(costOf(used, model, { at }).totalPicoUsd).toBe(plain.totalPicoUsd);
    }),
  );
});

test("within one tier the cost of a call is the sum of its buckets alone", () => {
  fc.assert(
    fc.property(anyUsage, fc.constantFrom(...claudeIds), (used, id) => {
      // Four buckets of at most 20,000 tokens stay below every tier.
      const model = facts(id);
      const parts: Usage[] = [
        usage({ uncachedTokens: used.uncachedTokens }),
        usage({ cacheReadTokens: used.cacheReadTokens }),
        ...lifetimes.map((lifetime) =>
          usage({ cacheWriteTokens: { [lifetime]: used.cacheWriteTokens[lifetime] ?? 0 } }),
        ),
        usage({ outputTokens: used.outputTokens }),
        usage({ reasoningTokens: used.reasoningTokens }),
      ];
      const sum = parts.reduce(
        (total, part) => total + costOf(part, model, { at }).totalPicoUsd,
        0n,
      );
      expect(costOf(used, model, { at }).totalPicoUsd).toBe(sum);
    }),
  );
});

test("saved tokens are nine tenths of what was read, less what writes cost more (H-01)", () => {
  const { cache } = resolveModel("claude-sonnet-4-6").facts;
  const read = { ...noUsage, cacheReadTokens: 1000, cacheWriteTokens: { "5m": 400 } };
  expect(savedTokens(read, cache)).toBe(800);
  expect(savedTokens({ ...noUsage, cacheWriteTokens: { "5m": 400, "1h": 100 } }, cache)).toBe(-200);
  expect(savedTokens(noUsage, cache)).toBe(0);
});
