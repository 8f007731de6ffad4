// Goal: a real protocol over a real socket. Method: the simulator answers, well or with the faults it is asked for.
import { afterEach, describe, expect, test } from "vitest";
import { plantedKey, plantedOpenaiKey } from "../../../harness/planted-key.ts";
import { anthropicMessages } from "../../core/wire/anthropic-messages/index.ts";
import { toRequest, type EncodedRequest } from "../../core/wire/encoded-request.ts";
import { openaiChat } from "../../core/wire/openai/chat/index.ts";
import { openaiResponses } from "../../core/wire/openai/responses/index.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { StreamPart } from "../../core/wire/reply.ts";
import { createScripted, createSimulator, type Simulator } from "../../simulator/index.ts";
import { anthropicEndpoint } from "../../core/wire/anthropic-messages/access.ts";
import { openaiEndpoint } from "../../core/wire/openai/access.ts";
import type { Endpoint } from "../../core/wire/access.ts";
import type { Provider, ProviderOptions } from "./provider.ts";
import { closeAll, closeLater, createTestClock, openProvider, textOf, until } from "./test-kit.ts";

afterEach(closeAll);

const words = "There is no README in this folder, so I looked at the sources instead.";

interface Wire {
  readonly protocol: Protocol;
  readonly endpoint: (baseUrl: string) => Endpoint;
  readonly request: (stream: boolean) => EncodedRequest;
  /** How many events of a stream have some of the words, but not all of them. */
  readonly someEvents: number;
}

const wires = {
  "anthropic-messages": {
    protocol: anthropicMessages,
    someEvents: 4,
    endpoint: (baseUrl) => anthropicEndpoint({ apiKey: plantedKey, baseUrl }),
    request: (stream) =>
      toRequest({
        path: "/v1/messages",
        parts: [
          `{"model":"claude-sonnet-4-6","max_tokens":300,"stream":${stream},`,
          '"messages":[{"role":"user","content":"Read the README."}]}',
        ],
        headers: { "anthropic-version": "2023-06-01" },
      }),
  },
  "openai-chat": {
    protocol: openaiChat,
    someEvents: 4,
    endpoint: (baseUrl) => openaiEndpoint({ apiKey: plantedOpenaiKey, baseUrl: `${baseUrl}/v1` }),
    request: (stream) =>
      toRequest({
        path: "/chat/completions",
        parts: [
          `{"model":"gpt-5.5","stream":${stream},`,
          stream ? '"stream_options":{"include_usage":true},' : "",
          '"messages":[{"role":"user","content":"Read the README."}]}',
        ],
      }),
  },
  "openai-responses": {
    protocol: openaiResponses,
    someEvents: 6,
    endpoint: (baseUrl) => openaiEndpoint({ apiKey: plantedOpenaiKey, baseUrl: `${baseUrl}/v1` }),
    request: (stream) =>
      toRequest({
        path: "/responses",
        parts: [`{"model":"gpt-5.6","stream":${stream},"input":"Read the README."}`],
      }),
  },
} satisfies Readonly<Record<string, Wire>>;

interface Opened {
  readonly simulator: Simulator;
  readonly provider: Provider;
}

async function open(wire: Wire, options: Partial<ProviderOptions> = {}): Promise<Opened> {
  const simulator = createSimulator({
    seed: 1,
    model: createScripted([{ times: "always", when: {}, text: words }]),
  });
  const server = closeLater(await simulator.listen({ port: 0 }));
  const provider = openProvider(server.url, {
    ...wire.endpoint(server.url),
    protocol: wire.protocol,
    random: () => 0,
    ...options,
  });
  return { simulator, provider };
}

describe.each(Object.entries(wires))("%s against the simulator", (_name, wire) => {
  test("a whole reply has its usage and its request id", async () => {
    const { provider, simulator } = await open(wire);
    const sent = await provider.send({ request: wire.request(false), stream: false });
    expect(textOf(sent.outcome)).toBe(words);
    expect(sent.outcome).toMatchObject({
      kind: "reply",
      status: "complete",
      stopReason: "end_turn",
    });
    expect(sent.status).toBe(200);
    expect(sent.requestId).toMatch(/^req_/);
    expect(simulator.calls()).toHaveLength(1);
  });

  test("a stream gives the same reply, part by part", async () => {
    const { provider } = await open(wire);
    const parts: StreamPart[] = [];
    const streamed = await provider.send({
      request: wire.request(true),
      stream: true,
      onPart: (part) => parts.push(part),
    });
    const whole = await provider.send({ request: wire.request(false), stream: false });
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.map((part) => (part.type === "text" ? part.text : "")).join("")).toBe(words);
    expect(streamed.outcome).toMatchObject({ kind: "reply", status: "complete" });
    expect(textOf(streamed.outcome)).toBe(textOf(whole.outcome));
  });

  test("a rate limit is waited for as long as it says", async () => {
    const clock = createTestClock();
    const { provider, simulator } = await open(wire, { clock });
    simulator.fault({ kind: "rate limited", retryAfterSeconds: 7 });
    const sending = provider.send({ request: wire.request(false), stream: false });
    await clock.waiting(7_000);
    clock.advance(7_000);
    const { outcome, attempts } = await sending;
    expect(textOf(outcome)).toBe(words);
    expect(attempts).toMatchObject([
      {
        status: 429,
        failure: { kind: "rate-limited", retryAfterMs: 7_000 },
        next: { delayMs: 7_000 },
      },
      { status: 200, failure: null },
    ]);
  });

  test("an overloaded provider is asked again", async () => {
    const { provider, simulator } = await open(wire);
    simulator.fault({ kind: "overloaded" }, { kind: "server error" });
    const { outcome, attempts } = await provider.send({
      request: wire.request(true),
      stream: true,
    });
    expect(textOf(outcome)).toBe(words);
    expect(attempts.map(({ failure }) => failure?.kind)).toEqual([
      "overloaded",
      "server-error",
      undefined,
    ]);
  });

  test("a prompt that is too long is reported, and not sent again", async () => {
    const { provider, simulator } = await open(wire);
    simulator.fault({ kind: "overflow", tokens: 213_462, tokensMax: 200_000 });
    const { outcome } = await provider.send({ request: wire.request(false), stream: false });
    expect(outcome).toMatchObject({ kind: "context-overflow" });
    expect(simulator.calls()).toHaveLength(1);
  });

  test("a cut stream gives what came, and is not sent again if the caller saw a part", async () => {
    const { provider, simulator } = await open(wire);
    simulator.fault({ kind: "cut", afterEvents: wire.someEvents });
    const { outcome } = await provider.send({
      request: wire.request(true),
      stream: true,
      onPart: () => {},
    });
    expect(outcome).toMatchObject({
      kind: "reply",
      status: "partial",
      failure: {
        kind: "unreachable",
        detail: expect.stringMatching(/^stream cut after \d+ bytes: /),
      },
    });
    const text = textOf(outcome) ?? "";
    expect(text).not.toBe("");
    expect(words.startsWith(text)).toBe(true);
    expect(simulator.calls()).toHaveLength(1);
  });

  test("a cut stream is sent again if the caller saw no part of it", async () => {
    const { provider, simulator } = await open(wire);
    simulator.fault({ kind: "cut", afterEvents: wire.someEvents });
    const sent = await provider.send({ request: wire.request(true), stream: true });
    expect(textOf(sent.outcome)).toBe(words);
    expect(sent.attempts).toMatchObject([
      { failure: { kind: "unreachable" }, discarded: { status: "partial" }, next: { delayMs: 0 } },
      { failure: null, discarded: null, next: null },
    ]);
    expect(simulator.calls()).toHaveLength(2);
  });

  test("a stream that is cut before it says anything is sent again", async () => {
    const { provider, simulator } = await open(wire);
    simulator.fault({ kind: "cut", afterEvents: 1 });
    const { outcome, attempts } = await provider.send({
      request: wire.request(true),
      stream: true,
    });
    expect(textOf(outcome)).toBe(words);
    expect(attempts.map(({ failure }) => failure?.kind)).toEqual(["unreachable", undefined]);
  });

  test("a reply that is cut is sent again", async () => {
    const { provider, simulator } = await open(wire);
    simulator.fault({ kind: "cut" });
    const { outcome, attempts } = await provider.send({
      request: wire.request(false),
      stream: false,
    });
    expect(textOf(outcome)).toBe(words);
    expect(attempts).toHaveLength(2);
  });

  test("a stream that goes silent ends at the idle limit with what came", async () => {
    const clock = createTestClock();
    const { provider, simulator } = await open(wire, { clock });
    simulator.fault({ kind: "stall", afterEvents: wire.someEvents });
    let partCount = 0;
    const sending = provider.send({
      request: wire.request(true),
      stream: true,
      onPart: () => (partCount += 1),
    });
    await until(() => partCount > 0);
    await clock.waiting(300_000);
    clock.advance(300_000);
    expect((await sending).outcome).toMatchObject({
      status: "partial",
      failure: { kind: "timeout", detail: "nothing more came within 300000 ms (timeouts.idleMs)" },
    });
  });

  test("a stream can be cancelled, and the provider sees that we left", async () => {
    const { provider, simulator } = await open(wire);
    simulator.fault({ kind: "stall", afterEvents: wire.someEvents });
    const controller = new AbortController();
    const { outcome } = await provider.send({
      request: wire.request(true),
      stream: true,
      signal: controller.signal,
      onPart: () => controller.abort(),
    });
    expect(outcome).toMatchObject({ status: "partial", failure: { kind: "cancelled" } });
    await until(() => simulator.calls()[0]?.outcome === "left");
  });
});

test("a stream that breaks in the middle keeps the usage it began with", async () => {
  const { provider, simulator } = await open(wires["anthropic-messages"]);
  simulator.fault({ kind: "malformed", afterEvents: 3 });
  const { outcome, attempts } = await provider.send({
    request: wires["anthropic-messages"].request(true),
    stream: true,
  });
  expect(outcome).toMatchObject({
    kind: "reply",
    status: "partial",
    failure: { kind: "malformed", detail: expect.stringMatching(/^an event is not JSON: /) },
    usage: { isReported: true, usage: { outputTokens: 1 } },
  });
  expect(attempts).toMatchObject([
    { discarded: null, next: { delayMs: null, reason: "the same request would fail again" } },
  ]);
});
