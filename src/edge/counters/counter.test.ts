// What a counter does with any sender: backends, labels, senders that misbehave, drift.
import { describe, expect, test } from "vitest";
import { plantedKey } from "../../../harness/planted-key.ts";
import type { Usage } from "../../core/message/usage.ts";
import { anthropicMessages } from "../../core/wire/anthropic-messages/index.ts";
import { toRequest, type EncodedRequest } from "../../core/wire/encoded-request.ts";
import { openaiChat } from "../../core/wire/openai/chat/index.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { createTestClock } from "../providers/test-kit.ts";
import { createCounter, type Counter, type CounterOptions } from "./counter.ts";
import type { CountSender } from "./exact-counter.ts";

const key = plantedKey;
const labels = { agent: "coder", provider: "main", model: "a model" };
/** One token for each word. */
const textCounter = { count: (text: string) => text.split(" ").length };
const request: EncodedRequest = toRequest({
  path: "/v1/messages",
  parts: ['{"max_tokens":9,"messages":[{"role":"user","content":"one two three"}]}'],
});
/** Three words, four for the message, three for the reply. */
const plainTokens = 10;

interface Opened {
  readonly counter: Counter;
  readonly warnings: readonly string[];
  /** Bodies that were sent. */
  readonly sent: readonly unknown[];
}

function open(options: Partial<CounterOptions> = {}, answer = '{"input_tokens":50}'): Opened {
  const warnings: string[] = [];
  const sent: unknown[] = [];
  const counter = createCounter({
    backend: "auto",
    protocol: anthropicMessages,
    hasKey: true,
    textCounter,
    openSender: (protocol) => senderOf(protocol, answer, sent),
    onWarning: (message) => warnings.push(message),
    ...options,
  });
  return { counter, warnings, sent };
}

function senderOf(protocol: Protocol, answer: string, sent: unknown[]): CountSender {
  return {
    send: (call) => {
      sent.push(call.request.toObject());
      return Promise.resolve({ outcome: protocol.decode(answer) });
    },
    close: () => Promise.resolve(),
  };
}

function closing(send: CountSender["send"]): () => CountSender {
  return () => ({ send, close: () => Promise.resolve() });
}

describe("who counts (CF-F)", () => {
  test("the provider, of what the prompt is made of", async () => {
    const { counter, sent } = open();
    expect(await counter.count({ request, estimatedTokens: 5 })).toEqual({
      tokens: 50,
      exact: true,
      backend: "anthropic_api",
      source: "provider",
      failure: null,
    });
    expect(sent).toEqual([{ messages: [{ role: "user", content: "one two three" }] }]);
  });

  test("without a key tiktoken, and nothing is opened", async () => {
    const openSender = closing(unsendable);
    const { counter, warnings } = open({ hasKey: false, openSender });
    expect(await counter.count({ request, estimatedTokens: 5 })).toEqual({
      tokens: plainTokens,
      exact: false,
      backend: "tiktoken",
      source: "estimate",
      failure: null,
    });
    expect([warnings, counter.stats().provider]).toEqual([[], null]);
  });

  test("where the protocol has no counting tiktoken", async () => {
    const { counter, sent } = open({ protocol: openaiChat });
    const count = await counter.count({ request });
    expect(count).toMatchObject({ tokens: plainTokens, backend: "tiktoken", exact: false });
    expect(sent).toEqual([]);
  });

  test("the caller where it is to be local, and the text where the caller has no estimate", async () => {
    const { counter, sent } = open({ backend: "local" });
    const local = await counter.count({ request, estimatedTokens: 5 });
    expect(local).toMatchObject({ tokens: 5, exact: false, backend: "local" });
    expect((await counter.count({ request })).tokens).toBe(plainTokens);
    expect(sent).toEqual([]);
  });

  test("tiktoken in the place of an unknown backend, with one warning (N-03)", async () => {
    const { counter, warnings } = open({ backend: "tictoken" });
    await counter.count({ request });
    expect((await counter.count({ request })).backend).toBe("tiktoken");
    expect(warnings).toEqual([
      'the token counter "tictoken" is not known; tiktoken is taken instead',
    ]);
  });

  test("the text where the provider fails and the caller has no estimate", async () => {
    const { counter } = open({}, "not JSON");
    expect(await counter.count({ request })).toMatchObject({
      tokens: plainTokens,
      exact: false,
      backend: "cascading_degraded",
      failure: { kind: "malformed", detail: "no count in the answer: not JSON" },
    });
  });

  test.each([
    "{}",
    "[]",
    "null",
    '{"input_tokens":null}',
    '{"input_tokens":0}',
    '{"input_tokens":1.5}',
  ])("the estimate, if the answer is %s", async (answer) => {
    const count = await open({}, answer).counter.count({ request, estimatedTokens: 5 });
    expect(count).toMatchObject({ tokens: 5, failure: { kind: "malformed" } });
  });
});

describe("a sender that misbehaves", () => {
  test("may throw, and the turn does not notice", async () => {
    const { counter, warnings } = open({ openSender: closing(unsendable) });
    const count = await counter.count({ request, estimatedTokens: 5 });
    expect(count).toMatchObject({ tokens: 5, exact: false, failure: { kind: "unreachable" } });
    expect(JSON.stringify([count, warnings])).not.toContain(key);
  });

  test("may never answer and never listen", async () => {
    const clock = createTestClock();
    const openSender = closing(() => new Promise(() => {}));
    const { counter } = open({ openSender, clock, limitMs: 200 });
    const counting = counter.count({ request, estimatedTokens: 5 });
    await clock.waiting(200);
    clock.advance(200);
    expect(await counting).toMatchObject({ tokens: 5, failure: { kind: "timeout" } });
    expect(clock.delays()).toEqual([]);
  });
});

function unsendable(): never {
  throw new TypeError(`cannot send with ${key}`);
}

describe("drift (N-33)", () => {
  const bill: Usage = {
    uncachedTokens: 10,
    cacheReadTokens: 60,
    cacheWriteTokens: { "5m": 30 },
    outputTokens: 1_000,
    reasoningTokens: 0,
  };

  test("is reported and kept, against tokens read, written and neither", () => {
    const told: unknown[] = [];
    const { counter } = open({ onDrift: (drift) => told.push(drift) });
    counter.noteBill({ labels, countedTokens: 75, usage: bill });
    expect(told).toEqual([
      { labels, against: "bill", estimatedTokens: 75, actualTokens: 100, percent: 25 },
    ]);
    expect(counter.stats().drift).toEqual([
      {
        labels,
        against: "bill",
        observations: 1,
        sumPercent: 25,
        percentMax: 25,
        atMost: [0, 0, 0, 0, 0, 0, 1, 1, 1, 1],
      },
    ]);
  });

  test("is skipped where nothing was billed, and that is counted (CF-F)", () => {
    const { counter } = open();
    const usage = { ...bill, uncachedTokens: 0, cacheReadTokens: 0, cacheWriteTokens: {} };
    counter.noteBill({ labels, countedTokens: 75, usage });
    expect(counter.stats()).toMatchObject({ drift: [], driftSkipped: 1 });
  });

  test("of an estimate against the provider's own count is kept apart, once for each count", async () => {
    const { counter } = open();
    await counter.count({ request, estimatedTokens: 40, labels });
    await counter.count({ request, estimatedTokens: 40, labels });
    counter.noteBill({ labels, countedTokens: 50, usage: bill });
    expect(counter.stats()).toMatchObject({
      counts: { provider: 1, remembered: 1, estimate: 0 },
      estimated: [{ labels, tokens: 50 }],
      drift: [
        { labels, against: "count", observations: 1, sumPercent: 20 },
        { labels, against: "bill", observations: 1, sumPercent: 50 },
      ],
    });
  });

  test("never fails the turn if a listener throws", async () => {
    const { counter } = open({ onDrift: unsendable, onWarning: unsendable, backend: "none" });
    counter.noteBill({ labels, countedTokens: 75, usage: bill });
    expect(await counter.count({ request })).toMatchObject({ backend: "tiktoken" });
    expect(counter.stats().listenerFailures).toBe(2);
  });
});
