// Goal: exact counts over a real socket, and a turn that notices no failure of them. Method: the simulator counts,
// well or with the faults it is asked for; only the test moves the counter's clock.
import { afterEach, describe, expect, test } from "vitest";
import { plantedKey } from "../../../harness/planted-key.ts";
import { assemble } from "../../core/assembly/assemble.ts";
import { buildFoundation } from "../../core/assembly/foundation.ts";
import { openThread } from "../../core/assembly/thread.ts";
import { openCacheState } from "../../core/cache/cache-state.ts";
import { openPace } from "../../core/cache/pace.ts";
import { planCache } from "../../core/cache/plan-cache.ts";
import { findPolicy } from "../../core/cache/policies.ts";
import { toToolDefinition } from "../../core/message/tool-definition.ts";
import { promptTokens } from "../../core/message/usage.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import { loadCl100k, loadO200k } from "../../core/tokens/o200k/counter.ts";
import { lengthCounter } from "../../core/tokens/token-counter.ts";
import { anthropicMessages } from "../../core/wire/anthropic-messages/index.ts";
import { bodyText, toRequest, type EncodedRequest } from "../../core/wire/encoded-request.ts";
import { openaiChat } from "../../core/wire/openai/chat/index.ts";
import { openaiResponses } from "../../core/wire/openai/responses/index.ts";
import type { CallOptions, Protocol } from "../../core/wire/protocol.ts";
import { createSimulator, type Simulator } from "../../simulator/index.ts";
import { anthropicEndpoint } from "../../core/wire/anthropic-messages/access.ts";
import { openaiEndpoint } from "../../core/wire/openai/access.ts";
import type { Endpoint } from "../../core/wire/access.ts";
import { createProvider } from "../providers/provider.ts";
import {
  closeAll,
  closeLater,
  createTestClock,
  until,
  type TestClock,
} from "../providers/test-kit.ts";
import { createCounter, type Counter, type CounterOptions } from "./counter.ts";

afterEach(closeAll);

const key = plantedKey;
const textCounter = await loadO200k();

interface Wire {
  readonly protocol: Protocol;
  readonly backend: string;
  readonly endpoint: (baseUrl: string) => Endpoint;
  readonly path: string;
  readonly model: string;
  /** With members that counting refuses, before and behind the prompt. */
  readonly request: (words: string) => EncodedRequest;
}

const wires: Readonly<Record<string, Wire>> = {
  "anthropic-messages": {
    protocol: anthropicMessages,
    backend: "anthropic_api",
    endpoint: (baseUrl) => anthropicEndpoint({ apiKey: key, baseUrl }),
    path: "/v1/messages/count_tokens",
    model: "claude-sonnet-4-6",
    request: (words) =>
      toRequest({
        path: "/v1/messages",
        parts: [
          '{"model":"claude-sonnet-4-6","max_tokens":300,',
          '"tools":[{"name":"read","input_schema":{"type":"object","properties":{"10":{},"2":{}}}}],',
          '"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],',
          `"messages":[{"role":"user","content":${JSON.stringify(words)}}],`,
          '"stop_sequences":["stop"],"temperature":0.5,"metadata":{"user_id":"u"}}',
        ],
        headers: { "anthropic-version": "2023-06-01" },
      }),
  },
  "openai-responses": {
    protocol: openaiResponses,
    backend: "openai_api",
    endpoint: (baseUrl) => openaiEndpoint({ apiKey: key, baseUrl: `${baseUrl}/v1` }),
    path: "/v1/responses/input_tokens",
    model: "gpt-5.6",
    request: (words) =>
      toRequest({
        path: "/responses",
        parts: [
          '{"model":"gpt-5.6","max_output_tokens":300,"store":false,"instructions":"Be brief.",',
          '"tools":[{"type":"function","name":"read","parameters":{"type":"object"}}],',
          `"input":[{"role":"user","content":${JSON.stringify(words)}}],`,
          '"include":["reasoning.encrypted_content"],"prompt_cache_key":"k"}',
        ],
      }),
  },
};

interface Opened {
  readonly counter: Counter;
  readonly simulator: Simulator;
  readonly clock: TestClock;
  readonly warnings: string[];
  /** Requests that reached the provider's counting. */
  readonly asked: () => number;
}

async function open(
  wire: Wire,
  options: Partial<CounterOptions> = {},
  credentials?: Endpoint["credentials"],
): Promise<Opened> {
  const simulator = createSimulator({ seed: 1 });
  const server = closeLater(await simulator.listen({ port: 0 }));
  const endpoint = wire.endpoint(server.url);
  const clock = createTestClock();
  const warnings: string[] = [];
  const counter = closeLater(
    createCounter({
      backend: "auto",
      protocol: wire.protocol,
      hasKey: true,
      textCounter,
      openSender: (protocol) =>
        createProvider({
          ...endpoint,
          credentials: credentials ?? endpoint.credentials,
          protocol,
          retries: { attemptsMax: 1 },
        }),
      clock,
      onWarning: (message) => warnings.push(message),
      ...options,
    }),
  );
  const asked = (): number => simulator.calls().filter(({ path }) => path === wire.path).length;
  return { counter, simulator, clock, warnings, asked };
}

function encodeWithEverything(protocol: Protocol, name: string): EncodedRequest {
  const { facts: model } = resolveModel(name);
  const input = { name: "read", description: "Reads.", inputSchema: { type: "object" } };
  const foundation = buildFoundation({
    tools: [toToolDefinition(input)],
    system: [{ label: "static", tier: "T1", text: "Be careful. ".repeat(2_000) }],
    spelling: protocol.spelling(model),
    counter: lengthCounter,
    model,
  });
  const { layout, markers } = findPolicy("adaptive");
  const assembly = assemble({
    thread: openThread(foundation),
    current: [{ role: "user", content: [{ type: "text", text: "Begin." }] }],
    volatile: "It is noon.",
    layout,
    model,
  });
  const { blocks } = assembly;
  const [state, pace] = [openCacheState(), openPace("human")];
  const plan = planCache({ blocks, rules: model, markers, state, pace, now: 0 });
  const options: CallOptions = {
    outputTokensMax: 4_000,
    stream: true,
    temperature: 1,
    stopSequences: ["stop"],
    toolChoice: "auto",
    parallelToolUse: false,
    effort: "high",
    outputSchemaJson: '{"type":"object","properties":{},"additionalProperties":false}',
    extraJson: { metadata: "{}", service_tier: '"auto"' },
  };
  return protocol.encode({ assembly, plan, model, options });
}

describe.each(Object.entries(wires))("%s against the simulator", (_name, wire) => {
  test("a count is what the same request is billed for", async () => {
    const { counter, simulator, asked, warnings } = await open(wire);
    const request = wire.request("Read the README. ".repeat(50));
    const count = await counter.count({ request, estimatedTokens: 1 });
    const server = closeLater(await simulator.listen({ port: 0 }));
    const { protocol } = wire;
    const provider = closeLater(createProvider({ ...wire.endpoint(server.url), protocol }));
    const { outcome } = await provider.send({ request, stream: false });
    if (outcome.kind !== "reply") throw new Error(outcome.detail);
    expect(count).toEqual({
      tokens: promptTokens(outcome.usage.usage),
      exact: true,
      backend: wire.backend,
      source: "provider",
      failure: null,
    });
    expect([asked(), warnings]).toEqual([1, []]);
  });

  test("a text and blocks are counted alone: what they add to a message (N-30)", async () => {
    const { counter, asked } = await open(wire);
    const { facts: model } = resolveModel(wire.model);
    const words = "Read the README. ".repeat(50);
    const text = await counter.countBlocks({ blocks: words, model });
    const twice = await counter.countBlocks({
      blocks: [
        { type: "text", text: words },
        { type: "text", text: words },
      ],
      model,
    });
    expect(text).toMatchObject({ exact: true, source: "provider", failure: null });
    expect(text.tokens).toBeGreaterThan(150);
    expect(twice.tokens).toBe(2 * text.tokens);
    // The placeholder is counted once.
    expect(asked()).toBe(3);
  });

  test("a request of our own with every option there is can be counted", async () => {
    const { counter } = await open(wire);
    const request = encodeWithEverything(wire.protocol, wire.model);
    expect(await counter.count({ request })).toMatchObject({ source: "provider", failure: null });
  });

  test("the same content is asked for once, whatever surrounds it and however it is cut (CF-F)", async () => {
    const { counter, asked } = await open(wire);
    const request = wire.request("Hello.");
    const first = await counter.count({ request });
    const body = bodyText(request.pieces).replace("300", "4000");
    const other = toRequest({ ...request, parts: [body.slice(0, 40), body.slice(40)] });
    const second = await counter.count({ request: other });
    expect(second).toEqual({ ...first, source: "remembered" });
    expect(asked()).toBe(1);
    await counter.count({ request: wire.request("Hello!") });
    expect(asked()).toBe(2);
  });

  test("what was not asked for the longest is forgotten (CF-F)", async () => {
    const { counter, asked } = await open(wire, { capacity: 2 });
    for (const words of ["a", "b", "a", "c", "a", "b"]) {
      await counter.count({ request: wire.request(words) });
    }
    expect(asked()).toBe(4);
    expect(counter.stats().provider).toMatchObject({ requests: 4, remembered: 2, entries: 2 });
  });

  test("two callers with the same question share one request", async () => {
    const { counter, asked } = await open(wire);
    const request = wire.request("Hello.");
    const [first, second] = await Promise.all([
      counter.count({ request }),
      counter.count({ request }),
    ]);
    expect(second).toEqual(first);
    expect([asked(), counter.stats().provider?.shared]).toEqual([1, 1]);
  });

  test.each([
    ["a rate limit", { kind: "rate limited" }, "rate-limited"],
    ["a server error", { kind: "server error" }, "server-error"],
    ["an overload", { kind: "overloaded" }, "overloaded"],
    ["a broken answer", { kind: "malformed" }, "malformed"],
    ["a cut answer", { kind: "cut" }, "unreachable"],
  ] as const)(
    "after %s there is the estimate, and the label stays (N-31)",
    async (_what, fault, kind) => {
      const { counter, simulator, warnings } = await open(wire);
      simulator.fault(fault);
      const request = wire.request("Hello.");
      const fallen = await counter.count({ request, estimatedTokens: 77 });
      expect(fallen).toMatchObject({
        tokens: 77,
        exact: false,
        backend: "cascading_degraded",
        source: "estimate",
        failure: { kind },
      });
      const later = await counter.count({ request, estimatedTokens: 77 });
      expect(later).toMatchObject({
        exact: false,
        backend: "cascading_degraded",
        source: "provider",
      });
      expect(later.tokens).not.toBe(77);
      expect(counter.stats()).toMatchObject({ exact: false, backend: "cascading_degraded" });
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain(`${wire.backend} did not count (${kind}: `);
    },
  );

  test("a wrong key is a failure like others, and no output has the key", async () => {
    const wrong = { authorization: `Basic ${key}` };
    const { counter, warnings } = await open(wire, {}, wrong);
    const count = await counter.count({ request: wire.request("Hello."), estimatedTokens: 5 });
    expect(count).toMatchObject({ tokens: 5, exact: false, failure: { kind: "authentication" } });
    expect(warnings).toHaveLength(1);
    expect(JSON.stringify([count, warnings, counter.stats()])).not.toContain(key);
  });

  test("a slow answer is not waited for longer than 15 seconds", async () => {
    const { counter, simulator, clock, asked } = await open(wire);
    simulator.fault({ kind: "slow first byte", delayMs: 60_000 });
    const counting = counter.count({ request: wire.request("Hello."), estimatedTokens: 5 });
    await clock.waiting(15_000);
    await until(() => asked() === 1);
    clock.advance(15_000);
    expect(await counting).toMatchObject({
      tokens: 5,
      failure: { kind: "timeout", detail: "no count within 15000 ms" },
    });
    await until(() => simulator.calls()[0]?.outcome === "left");
  });

  test("three failures in a row stop the asking for 30 seconds, a fourth for 60, two successes end it", async () => {
    const { counter, simulator, clock, asked } = await open(wire);
    simulator.fault({ kind: "server error", count: 4 });
    let words = 0;
    const ask = async (): Promise<string> => {
      words += 1;
      const request = wire.request(`question ${words}`);
      const { source, failure } = await counter.count({ request, estimatedTokens: 5 });
      return failure?.kind ?? source;
    };
    expect([await ask(), await ask(), await ask()]).toEqual(Array(3).fill("server-error"));
    expect([await ask(), asked()]).toEqual(["unreachable", 3]);
    clock.advance(29_999);
    expect([await ask(), asked()]).toEqual(["unreachable", 3]);
    clock.advance(1);
    expect([await ask(), asked()]).toEqual(["server-error", 4]);
    clock.advance(59_999);
    expect([await ask(), asked()]).toEqual(["unreachable", 4]);
    clock.advance(1);
    expect([await ask(), counter.stats().provider?.breaker.state]).toEqual([
      "provider",
      "half-open",
    ]);
    expect([await ask(), counter.stats().provider?.breaker.state]).toEqual(["provider", "closed"]);
    expect(counter.stats()).toMatchObject({ exact: false, backend: "cascading_degraded" });
    expect(counter.stats().provider).toMatchObject({
      requests: 6,
      failed: 4,
      answered: 2,
      notAsked: 3,
    });
  });

  test("a provider that asks for a pause is left alone so long", async () => {
    const { counter, simulator, clock, asked } = await open(wire);
    simulator.fault({ kind: "rate limited", retryAfterSeconds: 20 });
    const request = wire.request("Hello.");
    await counter.count({ request });
    clock.advance(19_999);
    expect((await counter.count({ request })).source).toBe("estimate");
    expect(asked()).toBe(1);
    clock.advance(1);
    expect((await counter.count({ request })).source).toBe("provider");
  });

  test("a cancelled caller gets the estimate; other callers go on, and the provider's health stays", async () => {
    const { counter, simulator, asked, warnings } = await open(wire);
    simulator.fault({ kind: "slow first byte", delayMs: 100 });
    const leaving = new AbortController();
    const request = wire.request("Hello.");
    const left = counter.count({ request, estimatedTokens: 5, signal: leaving.signal });
    const stays = counter.count({ request, estimatedTokens: 5 });
    await until(() => asked() === 1);
    leaving.abort();
    expect(await left).toMatchObject({ tokens: 5, exact: false, failure: { kind: "cancelled" } });
    expect(await stays).toMatchObject({ exact: true, source: "provider" });
    const { signal } = leaving;
    const never = await counter.count({
      request: wire.request("Bye."),
      estimatedTokens: 6,
      signal,
    });
    expect(never).toMatchObject({ tokens: 6, exact: false, backend: wire.backend });
    expect([asked(), counter.stats().exact, warnings]).toEqual([1, true, []]);
  });

  test("a request without waiters is cancelled", async () => {
    const { counter, simulator, asked } = await open(wire);
    simulator.fault({ kind: "slow first byte", delayMs: 60_000 });
    const leaving = new AbortController();
    const request = wire.request("Hello.");
    const left = counter.count({ request, signal: leaving.signal });
    await until(() => asked() === 1);
    leaving.abort();
    await left;
    await until(() => simulator.calls()[0]?.outcome === "left");
    expect(counter.stats().provider).toMatchObject({ cancelled: 1, failed: 0 });
    expect(await counter.count({ request })).toMatchObject({ exact: true, source: "provider" });
  });

  test("closing ends what is under way", async () => {
    const { counter, simulator, asked } = await open(wire);
    simulator.fault({ kind: "stall" });
    const counting = counter.count({ request: wire.request("Hello."), estimatedTokens: 5 });
    await until(() => asked() === 1);
    await counter.close();
    expect(await counting).toMatchObject({ tokens: 5, failure: { kind: "cancelled" } });
  });
});

test("by a vocabulary, a model of cl100k is counted with cl100k, and other models with o200k (N-30)", async () => {
  const counter = closeLater(
    createCounter({
      backend: "tiktoken",
      protocol: openaiChat,
      hasKey: false,
      textCounter,
      openSender: () => {
        throw new Error("nothing is sent");
      },
    }),
  );
  const blocks = "naïve 日本語: don't panic";
  const older = resolveModel("gpt-4-turbo").facts;
  expect(older.tokenizer).toBe("cl100k");
  const { tokens, source } = await counter.countBlocks({ blocks, model: older });
  expect({ tokens, source }).toEqual({
    tokens: (await loadCl100k()).count(blocks),
    source: "estimate",
  });
  const newer = await counter.countBlocks({ blocks, model: resolveModel("gpt-5.5").facts });
  expect(newer.tokens).toBe(textCounter.count(blocks));
  expect(newer.tokens).not.toBe(tokens);
});
