import { describe, expect, test } from "vitest";
import { joinUsage, readUsage } from "./usage.ts";

const none = { uncachedTokens: 0, cacheReadTokens: 0, outputTokens: 0, reasoningTokens: 0 };

describe("usage", () => {
  test("goes into disjoint buckets, writes by lifetime", () => {
    const reported = readUsage({
      input_tokens: 3,
      cache_read_input_tokens: 1000,
      cache_creation_input_tokens: 70,
      cache_creation: { ephemeral_5m_input_tokens: 50, ephemeral_1h_input_tokens: 20 },
      output_tokens: 90,
      output_tokens_details: { thinking_tokens: 60 },
      service_tier: "standard",
      some_new_field: { any: "thing" },
    });
    expect(reported).toEqual({
      usage: {
        uncachedTokens: 3,
        cacheReadTokens: 1000,
        cacheWriteTokens: { "5m": 50, "1h": 20 },
        outputTokens: 30,
        reasoningTokens: 60,
      },
      isReported: true,
      reportsCache: true,
      warnings: [],
    });
  });

  test.each([
    ["no split", 70, null, { "5m": 70 }, []],
    ["a split of nothing", 0, { ephemeral_5m_input_tokens: 0 }, {}, []],
    ["only the long one", 20, { ephemeral_1h_input_tokens: 20 }, { "1h": 20 }, []],
    ["a split below the total", 70, split(10, 20), { "5m": 50, "1h": 20 }, mismatch(30, 70)],
    ["a split above the total", 25, split(10, 20), { "5m": 5, "1h": 20 }, mismatch(30, 25)],
    ["a split far above the total", 15, split(10, 20), { "1h": 15 }, mismatch(30, 15)],
    ["no total", null, split(10, 20), { "5m": 10, "1h": 20 }, []],
  ])("with %s: the total is trusted", (_name, total, cache_creation, expected, warnings) => {
    const reported = readUsage({ cache_creation_input_tokens: total, cache_creation });
    expect(reported.usage.cacheWriteTokens).toEqual(expected);
    expect(reported.warnings).toEqual(warnings);
    expect(reported.reportsCache).toBe(true);
  });

  test("without cache fields says nothing about the cache (N-15)", () => {
    const nulls = { cache_read_input_tokens: null, cache_creation_input_tokens: null };
    for (const fields of [{}, { ...nulls, cache_creation: null }]) {
      expect(readUsage({ input_tokens: 7, output_tokens: 1, ...fields })).toEqual({
        usage: { ...none, uncachedTokens: 7, outputTokens: 1, cacheWriteTokens: {} },
        isReported: true,
        reportsCache: false,
        warnings: [],
      });
    }
    expect(readUsage({ cache_read_input_tokens: 0 }).reportsCache).toBe(true);
  });

  test.each([
    [-5, "input_tokens is -5, taken as 0"],
    [1.5, "input_tokens is 1.5, taken as 0"],
    ["12", "input_tokens is a string, taken as 0"],
    [Infinity, "input_tokens is Infinity, taken as 0"],
  ])("that cannot be is zero, with a warning: %s", (input_tokens, warning) => {
    expect(readUsage({ input_tokens })).toEqual({
      usage: { ...none, cacheWriteTokens: {} },
      isReported: true,
      reportsCache: false,
      warnings: [warning],
    });
  });

  test("never has more thinking than output", () => {
    const reported = readUsage({ output_tokens: 5, output_tokens_details: { thinking_tokens: 8 } });
    expect(reported.usage).toMatchObject({ outputTokens: 0, reasoningTokens: 5 });
    expect(reported.warnings).toEqual([
      "thinking_tokens is 8, more than output_tokens, which is 5",
    ]);
  });

  test.each([null, undefined, "none", []])(
    "that is missing is reported as missing: %j",
    (value) => {
      expect(readUsage(value)).toEqual({
        usage: { ...none, cacheWriteTokens: {} },
        isReported: false,
        reportsCache: false,
        warnings: ["the reply has no usage"],
      });
    },
  );

  test("is reported as soon as one count came, also a zero", () => {
    expect(readUsage({ input_tokens: 0 }).isReported).toBe(true);
    expect(readUsage({ service_tier: "standard", output_tokens: null }).isReported).toBe(false);
  });
});

describe("iterations", () => {
  const compaction = {
    type: "compaction",
    input_tokens: 10,
    cache_read_input_tokens: 400,
    cache_creation_input_tokens: 30,
    cache_creation: split(0, 30),
    output_tokens: 20,
  };

  test("are what is billed where the totals are zero, as for a summary on demand", () => {
    const reported = readUsage({
      input_tokens: 0,
      output_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
      iterations: [compaction, { ...compaction, input_tokens: 1, output_tokens: -1 }],
    });
    expect(reported).toEqual({
      usage: {
        uncachedTokens: 11,
        cacheReadTokens: 800,
        cacheWriteTokens: { "1h": 60 },
        outputTokens: 20,
        reasoningTokens: 0,
      },
      isReported: true,
      reportsCache: true,
      warnings: ["output_tokens is -1, taken as 0"],
    });
  });

  test("are ignored if there are totals, but a compaction beside them is a warning", () => {
    const message = { type: "message", input_tokens: 7, output_tokens: 2 };
    expect(readUsage({ ...message, iterations: [message, null] }).warnings).toEqual([]);
    const reported = readUsage({ ...message, iterations: [compaction, message] });
    expect(reported.usage).toMatchObject({ uncachedTokens: 7, outputTokens: 2 });
    expect(reported.warnings).toEqual([
      "a compaction of 460 tokens was billed besides what is counted here",
    ]);
  });
});

function split(short: number, long: number) {
  return { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long };
}

function mismatch(named: number, total: number): string[] {
  return [`cache_creation adds up to ${named}, cache_creation_input_tokens is ${total}`];
}

describe("a stream of another vendor that speaks this protocol", () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>[], number[]]>([
    [
      "Kimi says the whole prompt first and the split at the end",
      { input_tokens: 9000, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
      [{ input_tokens: 808, cache_read_input_tokens: 8192, output_tokens: 5 }],
      [808, 8192, 0],
    ],
    [
      "without its rest at the end, the rest is what was neither read nor written",
      { input_tokens: 9000 },
      [{ cache_read_input_tokens: 8192, cache_creation_input_tokens: 500, output_tokens: 5 }],
      [308, 8192, 500],
    ],
    [
      "and never below 0",
      { input_tokens: 9000 },
      [{ cache_read_input_tokens: 9100, output_tokens: 5 }],
      [0, 9100, 0],
    ],
    [
      "Qwen has the cached count in the details, too",
      { input_tokens: 9000, cache_read_input_tokens: null },
      [{ input_tokens: 1000, prompt_tokens_details: { cached_tokens: 8000 } }],
      [1000, 8000, 0],
    ],
    [
      "Claude says the split first, and the end does not change it",
      { input_tokens: 3, cache_read_input_tokens: 100, cache_creation_input_tokens: 20 },
      [{ cache_read_input_tokens: 100, output_tokens: 4 }],
      [3, 100, 20],
    ],
  ])("%s", (_name, begun, later, expected) => {
    const { usage, reportsCache } = readUsage(joinUsage(begun, later));
    const written = usage.cacheWriteTokens["5m"] ?? 0;
    expect([usage.uncachedTokens, usage.cacheReadTokens, written]).toEqual(expected);
    expect(reportsCache).toBe(true);
  });

  test("says nothing about its cache if no event does", () => {
    const { reportsCache } = readUsage(joinUsage({ input_tokens: 9 }, [{ output_tokens: 5 }]));
    expect(reportsCache).toBe(false);
  });
});
