import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { noUsage, promptTokens } from "../../message/usage.ts";
import type { ReportedUsage } from "../reply.ts";
import { openaiChat } from "./chat/index.ts";
import { readChatUsage } from "./chat/usage.ts";
import { openaiResponses } from "./responses/index.ts";
import { readResponsesUsage } from "./responses/usage.ts";

describe("usage of Chat Completions", () => {
  test.each([
    [{ prompt_tokens: 10, completion_tokens: 5 }, [10, 0, {}, 5, 0], true, false, []],
    [
      { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } },
      [6, 4, {}, 5, 0],
      true,
      true,
      [],
    ],
    [
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
      [3, 4, { "30m": 3 }, 3, 2],
      true,
      true,
      [],
    ],
    [
      { completion_tokens: 5, prompt_cache_hit_tokens: 7, prompt_cache_miss_tokens: 3 },
      [3, 7, {}, 5, 0],
      true,
      true,
      [],
    ],
    [
      { prompt_tokens: 10, completion_tokens: 5, cached_tokens: 2 },
      [8, 2, {}, 5, 0],
      true,
      true,
      [],
    ],
    [
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: 9, cache_write_tokens: 3 },
        completion_tokens_details: { reasoning_tokens: 6 },
      },
      [0, 9, { "30m": 3 }, 0, 6],
      true,
      true,
      [
        "10 prompt tokens, of which read and written 12: the rest is taken as 0",
        "5 generated tokens, of which reasoning 6: the rest is taken as 0",
      ],
    ],
    [
      { prompt_tokens: 10, completion_tokens: null, prompt_tokens_details: null },
      [10, 0, {}, 0, 0],
      true,
      false,
      [],
    ],
    [
      { prompt_tokens: -1, completion_tokens: "5" },
      [0, 0, {}, 0, 0],
      false,
      false,
      [
        "prompt_tokens is no count (-1) and taken as absent",
        "completion_tokens is no count (string) and taken as absent",
      ],
    ],
    [undefined, [0, 0, {}, 0, 0], false, false, ["the reply reports no usage"]],
    [null, [0, 0, {}, 0, 0], false, false, ["the reply reports no usage"]],
  ])(
    "%j",
    (usage, [uncached, read, written, output, reasoning], isReported, reportsCache, warnings) => {
      expect(readChatUsage(usage)).toEqual({
        usage: {
          uncachedTokens: uncached,
          cacheReadTokens: read,
          cacheWriteTokens: written,
          outputTokens: output,
          reasoningTokens: reasoning,
        },
        isReported,
        reportsCache,
        ...(JSON.stringify(written) === '{"30m":3}' && {
          unnamedWriteTokens: { tokens: 3, standsAs: "30m" },
        }),
        warnings,
      });
    },
  );

  test.each([
    ["Mistral", { num_cached_tokens: 64 }, [36, 64, {}, 5, 0]],
    ["Mistral, misspelt", { prompt_token_details: { cached_tokens: 64 } }, [36, 64, {}, 5, 0]],
    [
      "Qwen",
      {
        prompt_tokens_details: {
          cached_tokens: 10,
          cache_creation_input_tokens: 30,
          cache_creation: { ephemeral_5m_input_tokens: 30 },
        },
      },
      [60, 10, { "5m": 30 }, 5, 0],
    ],
    [
      "xAI, with thinking beside the reply",
      { total_tokens: 112, completion_tokens_details: { reasoning_tokens: 7 } },
      [100, 0, {}, 5, 7],
    ],
    ["Gemini, with thinking in the total only", { total_tokens: 112 }, [100, 0, {}, 5, 7]],
    [
      "a total that fits nothing",
      { total_tokens: 112, completion_tokens_details: { reasoning_tokens: 2 } },
      [100, 0, {}, 3, 2],
    ],
  ])("of %s is read in disjoint buckets (D-03)", (_, more, buckets) => {
    const { usage, warnings } = readChatUsage({
      prompt_tokens: 100,
      completion_tokens: 5,
      ...more,
    });
    expect([
      usage.uncachedTokens,
      usage.cacheReadTokens,
      usage.cacheWriteTokens,
      usage.outputTokens,
      usage.reasoningTokens,
    ]).toEqual(buckets);
    expect(warnings).toEqual([]);
  });

  test.each([
    [{ cost: 0.00014, cost_details: { upstream_inference_cost: null } }, 140_000_000n],
    [
      { cost: 0.001, is_byok: true, cost_details: { upstream_inference_cost: 0.02 } },
      21_000_000_000n,
    ],
    [
      { cost: 0.02, is_byok: false, cost_details: { upstream_inference_cost: 0.02 } },
      20_000_000_000n,
    ],
    [{ cost: 0 }, 0n],
    [{ cost: "free" }, undefined],
    [{ cost: -1 }, undefined],
    [{}, undefined],
  ])("what a router charges is read: %j", (more, expected) => {
    expect(readChatUsage({ prompt_tokens: 10, ...more }).costPicoUsd).toBe(expected);
  });
});

function responsesUsage(details: object | null): object {
  return {
    input_tokens: 100,
    input_tokens_details: details,
    output_tokens: 30,
    output_tokens_details: { reasoning_tokens: 10 },
  };
}

describe("usage of the Responses API", () => {
  test.each([
    [{ cached_tokens: 60, cache_write_tokens: 30 }, 10, { "30m": 30 }, []],
    [
      {
        cached_tokens: 60,
        cache_write_tokens: 30,
        cache_write_tokens_details: { ttl_30m_tokens: 10, ttl_12h_tokens: 20 },
      },
      10,
      { "30m": 10, "12h": 20 },
      [],
    ],
    [
      {
        cached_tokens: 60,
        cache_write_tokens: 30,
        cache_write_tokens_details: { ttl_30m_tokens: 0, ttl_12h_tokens: 20 },
      },
      10,
      { "30m": 10, "12h": 20 },
      ["30 tokens written, but 20 by lifetime"],
    ],
    [{ cached_tokens: 60, cache_write_tokens: 0 }, 40, {}, []],
  ])("writes are kept apart by lifetime: %j", (details, uncached, written, warnings) => {
    expect(readResponsesUsage(responsesUsage(details))).toEqual({
      usage: {
        uncachedTokens: uncached,
        cacheReadTokens: 60,
        cacheWriteTokens: written,
        outputTokens: 20,
        reasoningTokens: 10,
      },
      isReported: true,
      reportsCache: true,
      ...(details.cache_write_tokens > 0 &&
        !("cache_write_tokens_details" in details) && {
          unnamedWriteTokens: { tokens: 30, standsAs: "30m" },
        }),
      warnings,
    });
  });

  test("says so if nothing is reported about the cache (N-15)", () => {
    expect(readResponsesUsage(responsesUsage(null)).reportsCache).toBe(false);
    expect(readResponsesUsage(undefined).reportsCache).toBe(false);
  });

  test("reported zeros are a bill, missing counts are not", () => {
    expect(readResponsesUsage({ input_tokens: 0, output_tokens: 0 }).isReported).toBe(true);
    expect(readChatUsage({ prompt_tokens: 0 }).isReported).toBe(true);
    for (const usage of [null, undefined, {}, { input_tokens: "many" }]) {
      expect(readResponsesUsage(usage).isReported).toBe(false);
      expect(readChatUsage(usage).isReported).toBe(false);
    }
  });
});

test("buckets sum to the prompt whenever no warning is given (D-03)", () => {
  const tokens = fc.nat(1000);
  fc.assert(
    fc.property(tokens, tokens, tokens, (total, cached_tokens, cache_write_tokens) => {
      const prompt_tokens_details = { cached_tokens, cache_write_tokens };
      const { usage, warnings } = readChatUsage({ prompt_tokens: total, prompt_tokens_details });
      expect(promptTokens(usage) === total).toBe(warnings.length === 0);
    }),
  );
});

test.each<[string, (usage: unknown) => ReportedUsage, string, string]>([
  ["Chat Completions", readChatUsage, "prompt_tokens", "completion_tokens"],
  ["Responses", readResponsesUsage, "input_tokens", "output_tokens"],
])("%s: counts that are none are absent, with a warning", (_name, read, prompt, generated) => {
  for (const [value, shown] of [
    [-1, "-1"],
    [0.5, "0.5"],
    [Number.POSITIVE_INFINITY, "Infinity"],
    ["7", "string"],
    [{}, "object"],
  ] as const) {
    const { usage, isReported, warnings } = read({ [prompt]: value, [generated]: value });
    expect([usage, isReported]).toEqual([noUsage, false]);
    expect(warnings).toEqual([
      `${prompt} is no count (${shown}) and taken as absent`,
      `${generated} is no count (${shown}) and taken as absent`,
    ]);
  }
});

test("the service that an answer names beside its counts is told with them, unless it is the usual one", () => {
  const usage = { prompt_tokens: 5, completion_tokens: 1, input_tokens: 5, output_tokens: 1 };
  for (const protocol of [openaiChat, openaiResponses]) {
    expect(tierOf(protocol, { usage, service_tier: "flex" })).toBe("flex");
    for (const usual of ["default", "auto", null]) {
      expect(tierOf(protocol, { usage, service_tier: usual })).toBeUndefined();
    }
    expect(tierOf(protocol, { usage: null, service_tier: "flex" })).toBeUndefined();
  }
  const ending = {
    type: "response.completed",
    usage: null,
    response: { usage, service_tier: "priority" },
  };
  expect(tierOf(openaiResponses, ending)).toBe("priority");
});

function tierOf(
  protocol: typeof openaiChat | typeof openaiResponses,
  answer: object,
): string | undefined {
  return protocol.readUsage(protocol.findUsage({ ...answer })).serviceTier;
}
