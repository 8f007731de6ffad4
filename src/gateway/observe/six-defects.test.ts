// Six mistakes that users of other gateways report again and again, each as what a user saw.
import { describe, expect, test } from "vitest";
import {
  dataOf,
  marker,
  saidInStream,
  saidWhole,
  startWatching,
  streamOf,
  textOf,
} from "./test-kit.ts";

/** $3 and $15 per million tokens; reads 0.1 of the input price, writes 1.25 for five minutes and 2 for an hour. */
const model = "claude-sonnet-4-6";
const body = { model, max_tokens: 100, messages: [{ role: "user", content: "Hello." }] };

describe("usage that comes in two events", () => {
  test("is not counted twice, and cached tokens of the last event are not lost", () => {
    const { pass } = startWatching();
    const call = pass({
      body,
      ...streamOf([
        {
          type: "message_start",
          message: { id: "m", usage: { input_tokens: 1000, output_tokens: 1 } },
        },
        {
          type: "message_delta",
          delta: { stop_reason: "end_turn" },
          usage: { input_tokens: 100, cache_read_input_tokens: 900, output_tokens: 50 },
        },
        { type: "message_stop" },
      ]),
    });
    expect(call?.usage).toEqual({
      uncachedTokens: 100,
      cacheReadTokens: 900,
      cacheWriteTokens: {},
      outputTokens: 50,
      reasoningTokens: 0,
    });
    // 100 × $3 + 900 × $0.30 + 50 × $15 per million.
    expect(call?.costPicoUsd).toBe(1_320_000_000n);
  });

  test("counts the cached tokens that only the first event has", () => {
    const { pass } = startWatching();
    const usage = { input_tokens: 20, cache_read_input_tokens: 5000, output_tokens: 7 };
    const call = pass({ body, ...saidInStream(["Hi."], usage) });
    expect(call?.usage).toMatchObject({
      uncachedTokens: 20,
      cacheReadTokens: 5000,
      outputTokens: 7,
    });
  });

  test("takes the prompt apart where a vendor tells the cached part only at the end", () => {
    const { pass } = startWatching();
    const call = pass({
      body,
      ...streamOf([
        {
          type: "message_start",
          message: { id: "m", usage: { input_tokens: 1000, output_tokens: 0 } },
        },
        {
          type: "message_delta",
          delta: { stop_reason: "end_turn" },
          usage: { cache_read_input_tokens: 768, output_tokens: 5 },
        },
      ]),
    });
    expect(call?.usage).toMatchObject({ uncachedTokens: 232, cacheReadTokens: 768 });
  });
});

test("cached tokens are part of OpenAI's total and beside Anthropic's: neither is billed twice", () => {
  const { pass } = startWatching();
  const openai = pass({
    path: "/v1/chat/completions",
    upstream: "openai",
    body: { model: "gpt-5.5", messages: [{ role: "user", content: "Hello." }] },
    ...dataOf([
      {
        id: "c",
        choices: [{ index: 0, delta: { role: "assistant", content: "Hi" }, finish_reason: null }],
        usage: null,
      },
      { id: "c", choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage: null },
      {
        id: "c",
        choices: [],
        usage: {
          prompt_tokens: 2000,
          completion_tokens: 10,
          prompt_tokens_details: { cached_tokens: 1920 },
        },
      },
      "[DONE]",
    ]),
  });
  const anthropic = pass({
    body,
    ...saidWhole({ input_tokens: 80, cache_read_input_tokens: 1920 }),
  });
  expect(openai?.usage).toMatchObject({ uncachedTokens: 80, cacheReadTokens: 1920 });
  expect(openai).toMatchObject({ status: "complete", stopReason: "end_turn", replyId: "c" });
  expect(anthropic?.usage).toMatchObject({ uncachedTokens: 80, cacheReadTokens: 1920 });
});

test("a write for an hour costs the price of an hour, not that of five minutes", () => {
  const { pass } = startWatching();
  const call = pass({
    body,
    ...saidInStream(["Hi."], {
      input_tokens: 0,
      cache_creation_input_tokens: 3000,
      cache_creation: { ephemeral_5m_input_tokens: 1000, ephemeral_1h_input_tokens: 2000 },
      output_tokens: 0,
    }),
  });
  expect(call?.usage?.cacheWriteTokens).toEqual({ "5m": 1000, "1h": 2000 });
  // 1,000 × $3.75 + 2,000 × $6 per million.
  expect(call?.costPicoUsd).toBe(15_750_000_000n);
});

test("a text that becomes a list with a marker is the same text, and its marker is seen", () => {
  const { pass } = startWatching();
  const system = textOf(3000);
  const first = pass({
    body: { model, max_tokens: 9, system, messages: [{ role: "user", content: "Hello." }] },
    ...saidWhole({ input_tokens: 3010 }),
  });
  const second = pass({
    body: {
      model,
      max_tokens: 9,
      system: [{ type: "text", text: system, ...marker }],
      messages: [
        { role: "user", content: [{ type: "text", text: "Hello." }] },
        { role: "assistant", content: "Done." },
        { role: "user", content: [{ type: "text", text: "And now?", ...marker }] },
      ],
    },
    ...saidWhole({ input_tokens: 20, cache_creation_input_tokens: 3010 }, "msg_2"),
  });
  expect(first?.markers).toEqual([]);
  expect(second?.markers).toEqual([
    { block: 0, lifetime: "5m" },
    { block: 3, lifetime: "5m" },
  ]);
  expect(second).toMatchObject({
    keptBlocks: 2,
    conversation: { id: "conversation 1", callNumber: 2 },
  });
});

test("what the client's own markers read is no saving of ours: it is the client's cost, beside the plain one", () => {
  const { pass } = startWatching();
  const call = pass({
    body,
    ...saidWhole({ input_tokens: 100, cache_read_input_tokens: 9900, output_tokens: 0 }),
  });
  expect(call?.costPicoUsd).toBe(3_270_000_000n);
  expect(call?.plainCostPicoUsd).toBe(30_000_000_000n);
  expect(call?.policy).toBeUndefined();
});

describe("a stream that is aborted", () => {
  const usage = { input_tokens: 50, cache_read_input_tokens: 4000, output_tokens: 300 };
  const whole = String(saidInStream(["One", " two", " three"], usage).answer);

  test("is billed for what was reported before the client left, not zero", () => {
    const { pass } = startWatching();
    const call = pass({
      body,
      answerHeaders: { "content-type": "text/event-stream" },
      answer: whole.slice(0, whole.indexOf(" three")),
      how: "client left",
    });
    expect(call).toMatchObject({
      status: "partial",
      failure: { kind: "cancelled" },
      usage: { uncachedTokens: 50, cacheReadTokens: 4000, outputTokens: 1 },
      notes: ["the stream ended early: output after the last report is billed and not known"],
    });
    expect(call?.costPicoUsd).toBe(1_365_000_000n);
  });

  test("has an unknown cost, not none, if the provider had said nothing yet", () => {
    const { pass } = startWatching();
    const call = pass({
      path: "/v1/chat/completions",
      upstream: "openai",
      body: { model: "gpt-5.5", messages: [{ role: "user", content: "Hello." }] },
      ...dataOf([{ id: "c", choices: [{ index: 0, delta: { content: "Hi" } }] }]),
      how: "cut",
    });
    expect(call).toMatchObject({
      status: "partial",
      usage: null,
      costPicoUsd: null,
      notes: [
        "the stream ended before the provider said what it billed",
        "the reply reports no usage",
      ],
    });
  });
});
