// Goal: what a call was billed for adds up, and an adapter claims no caching it does not do (CF-A).
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  coverage,
  hitRate,
  promptTokens,
  totalUsage,
  type Usage,
} from "../../src/core/message/usage.ts";
import { conservativeFacts } from "../../src/core/models/catalogue.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import { anthropicMessages } from "../../src/core/wire/anthropic-messages/index.ts";
import { declareCapabilities } from "../../src/core/wire/capabilities.ts";
import { gemini } from "../../src/core/wire/gemini/index.ts";
import { openaiChat } from "../../src/core/wire/openai/chat/index.ts";
import { openaiResponses } from "../../src/core/wire/openai/responses/index.ts";
import type { Protocol } from "../../src/core/wire/protocol.ts";
import type { ProtocolName } from "../../src/core/wire/protocols.ts";
import type { ReportedUsage } from "../../src/core/wire/reply.ts";
import { gptChat, large, markersIn, send, solChat, wires, type Wire } from "./test-kit.ts";

function usageIn(protocol: Protocol<ProtocolName>, usage: unknown): ReportedUsage {
  const named = { usage, usageMetadata: usage };
  const reply = protocol.decode(JSON.stringify({ ...replies[protocol.name], ...named }));
  if (reply.kind !== "reply") throw new Error(`no reply: ${reply.detail}`);
  return reply.usage;
}

const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-6",
  content: [{ type: "text", text: "Yes." }],
  stop_reason: "end_turn",
  stop_sequence: null,
};

const replies = {
  "anthropic-messages": message,
  "openai-chat": {
    id: "chatcmpl-1",
    object: "chat.completion",
    model: "gpt-5.5",
    choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
  },
  "openai-responses": {
    id: "resp_1",
    object: "response",
    status: "completed",
    model: "gpt-5.5",
    output: [
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "Yes.", annotations: [] }],
      },
    ],
  },
  gemini: {
    responseId: "r_1",
    modelVersion: "gemini-3.8-flash",
    candidates: [{ content: { role: "model", parts: [{ text: "Yes." }] }, finishReason: "STOP" }],
  },
  "bedrock-converse": {
    output: { message: { role: "assistant", content: [{ text: "Yes." }] } },
    stopReason: "end_turn",
  },
  "bedrock-invoke": message,
  "vertex-anthropic": message,
} as const;

describe("usage of one call (H-06, N-15, B-09)", () => {
  test("native: input tokens are what was neither read nor written", () => {
    const { usage, reportsCache } = usageIn(anthropicMessages, {
      input_tokens: 100,
      cache_read_input_tokens: 800,
      cache_creation_input_tokens: 100,
      cache_creation: { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 40 },
      output_tokens: 20,
    });
    expect(usage).toEqual({
      uncachedTokens: 100,
      cacheReadTokens: 800,
      cacheWriteTokens: { "5m": 60, "1h": 40 },
      outputTokens: 20,
      reasoningTokens: 0,
    });
    expect(promptTokens(usage)).toBe(1000);
    expect(hitRate(usage)).toBe(0.8);
    expect(reportsCache).toBe(true);
  });

  test.each([
    [
      "Chat Completions",
      openaiChat,
      {
        prompt_tokens: 1000,
        completion_tokens: 20,
        prompt_tokens_details: { cached_tokens: 800, cache_write_tokens: 100 },
      },
    ],
    [
      "Responses",
      openaiResponses,
      {
        input_tokens: 1000,
        output_tokens: 20,
        input_tokens_details: { cached_tokens: 800, cache_write_tokens: 100 },
      },
    ],
  ])(
    "%s: the total holds what was read and written, and is billed once",
    (_, protocol, reported) => {
      const { usage } = usageIn(protocol, reported);
      expect(usage).toEqual({
        uncachedTokens: 100,
        cacheReadTokens: 800,
        cacheWriteTokens: { "30m": 100 },
        outputTokens: 20,
        reasoningTokens: 0,
      });
      expect(promptTokens(usage)).toBe(1000);
    },
  );

  test.each([
    ["native", anthropicMessages, { input_tokens: 50, output_tokens: 5 }],
    ["Chat Completions", openaiChat, { prompt_tokens: 50, completion_tokens: 5 }],
    ["Responses", openaiResponses, { input_tokens: 50, output_tokens: 5 }],
    ["Gemini", gemini, { promptTokenCount: 50, candidatesTokenCount: 5 }],
  ])("%s: missing counts are 0, and not reported", (_, protocol, reported) => {
    const { usage, reportsCache } = usageIn(protocol, reported);
    expect(usage).toEqual({
      uncachedTokens: 50,
      cacheReadTokens: 0,
      cacheWriteTokens: {},
      outputTokens: 5,
      reasoningTokens: 0,
    });
    expect(reportsCache).toBe(false);
  });

  test("for any counts, buckets add up to the prompt and shares lie between 0 and 1 (CF-B, C-14)", () => {
    const count = fc.nat(1_000_000);
    fc.assert(
      fc.property(count, count, count, (uncached, read, written) => {
        const total = uncached + read + written;
        const reports = [
          usageIn(anthropicMessages, {
            input_tokens: uncached,
            cache_read_input_tokens: read,
            cache_creation_input_tokens: written,
            output_tokens: 1,
          }),
          usageIn(openaiChat, {
            prompt_tokens: total,
            prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written },
          }),
          usageIn(openaiResponses, {
            input_tokens: total,
            input_tokens_details: { cached_tokens: read, cache_write_tokens: written },
          }),
        ];
        for (const { usage } of reports) {
          expect(usage.uncachedTokens).toBe(uncached);
          expect(usage.cacheReadTokens).toBe(read);
          expect(promptTokens(usage)).toBe(total);
          for (const share of [hitRate(usage), coverage(usage)]) {
            expect(share === null ? total : share).toBeGreaterThanOrEqual(0);
            expect(share ?? 0).toBeLessThanOrEqual(1);
          }
        }
      }),
    );
  });

  test("a provider that reports more read than sent is corrected, with a warning", () => {
    const { usage, warnings } = usageIn(openaiChat, {
      prompt_tokens: 100,
      prompt_tokens_details: { cached_tokens: 900 },
    });
    expect(usage.uncachedTokens).toBe(0);
    expect(warnings).toHaveLength(1);
  });
});

describe("usage of many calls (H-01, H-06, C-14)", () => {
  test("three prompts of 1,000 tokens, 800 of them written once and read twice, hit 53.3 %", () => {
    const total = totalUsage([call(200, 0, 800), call(200, 800, 0), call(200, 800, 0)]);
    expect(promptTokens(total)).toBe(3000);
    expect(((hitRate(total) ?? 0) * 100).toFixed(1)).toBe("53.3");
    expect(((coverage(total) ?? 0) * 100).toFixed(1)).toBe("80.0");
  });

  test("a native prompt that is nearly all read hits below 100 %, where reads over input would give 1,900 %", () => {
    expect(hitRate(call(50, 950, 0))).toBe(0.95);
  });

  test("the rate of many calls is that of their tokens, not the mean of their rates", () => {
    expect(hitRate(totalUsage([call(9000, 0, 0), call(0, 1000, 0)]))).toBe(0.1);
  });
});

function call(uncachedTokens: number, cacheReadTokens: number, written: number): Usage {
  return {
    uncachedTokens,
    cacheReadTokens,
    cacheWriteTokens: written === 0 ? {} : { "5m": written },
    outputTokens: 10,
    reasoningTokens: 0,
  };
}

describe("caching is declared (M-18, C-15)", () => {
  const marking = { writesMarkers: true };
  const plain = { writesMarkers: false };

  test.each([
    ["claude-sonnet-4-6", marking, true],
    ["claude-sonnet-4-6", plain, false],
    ["claude-2.1", marking, false],
    ["gpt-5.5", plain, true],
    ["gpt-6.1-sol", marking, true],
    ["openrouter/anthropic/claude-sonnet-4-6", marking, true],
    ["openrouter/anthropic/claude-sonnet-4-6", plain, false],
    ["openrouter/anthropic/claude-2.1", marking, false],
    ["openrouter/moonshotai/kimi-k3", marking, false],
    ["gpt-5.5-pro", plain, false],
  ] as const)("for %s with an adapter of which holds %o: %s", (id, protocol, expected) => {
    const { facts } = resolveModel(id);
    expect(declareCapabilities(protocol, facts).supportsPromptCaching).toBe(expected);
  });

  test("not for a model of which nothing is known", () => {
    const facts = conservativeFacts("openrouter/somebody/something");
    expect(declareCapabilities(marking, facts).supportsPromptCaching).toBe(false);
  });

  test.each(Object.entries(wires))(
    "%s: where it is, markers go out, or the provider caches by itself",
    (_, wire) => {
      const { supportsPromptCaching } = declareCapabilities(marking, wire.model);
      expect(supportsPromptCaching).toBe(isMarked(wire) || wire.model.cache.automatic !== null);
    },
  );

  test("a model that caches by itself gets a stable prefix and a key instead of markers (M-15)", () => {
    expect(isMarked(gptChat)).toBe(false);
    expect(send("metis", large, gptChat).body["prompt_cache_key"]).toMatch(/^strata-[0-9a-f]{32}$/);
    expect(isMarked(solChat)).toBe(true);
  });
});

function isMarked(wire: Wire): boolean {
  return Object.keys(markersIn(send("metis", large, wire).body)).length > 0;
}
