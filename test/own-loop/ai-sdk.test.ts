// Goal: users of the Vercel AI SDK get planned markers and a ledger by wrapping a model. Method: the SDK drives the
// simulator through the middleware; requests, bills and the ledger are looked at.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import {
  generateText,
  isStepCount,
  jsonSchema,
  streamText,
  tool,
  wrapLanguageModel,
  type ModelMessage,
} from "ai";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import { createEventBus } from "../../src/edge/events/event-bus.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import {
  strataMiddleware,
  type StrataMiddlewareOptions,
  type ReportedCall,
} from "../../src/integrations/ai-sdk/index.ts";
import { createScripted, createSimulator, type ScriptStep } from "../../src/simulator/index.ts";
import { claude, manual, problemsOf } from "./test-kit.ts";

type ProviderOptions = NonNullable<ModelMessage["providerOptions"]>;

let ledger: Ledger;
beforeEach(async () => {
  ledger = await openLedger(":memory:");
});
afterEach(() => ledger.close());

const models = {
  anthropic: (fetch: typeof globalThis.fetch) =>
    createAnthropic({ baseURL: "http://localhost/v1", apiKey: plantedKey, fetch })(claude),
  google: (fetch: typeof globalThis.fetch) =>
    createGoogle({ baseURL: "http://localhost/v1beta", apiKey: plantedKey, fetch })(
      "gemini-3.8-flash",
    ),
  "openai responses": (fetch: typeof globalThis.fetch) =>
    createOpenAI({ baseURL: "http://localhost/v1", apiKey: plantedKey, fetch })("gpt-6.1-sol"),
  "openai chat": (fetch: typeof globalThis.fetch) =>
    createOpenAI({ baseURL: "http://localhost/v1", apiKey: plantedKey, fetch }).chat("gpt-6.1-sol"),
} as const;

const tools = {
  look: tool({
    description: "Looks at a file.",
    inputSchema: jsonSchema<{ path: string }>({
      type: "object",
      properties: { path: { type: "string" } },
    }),
    execute: () => "red: line 3",
  }),
};

const script: readonly ScriptStep[] = [
  { text: "Looking.", toolCalls: [{ name: "look", input: { path: "ci.yml" } }] },
  { expect: { toolResult: "red" }, text: "It is red because of line 3." },
  { text: "You are welcome." },
];

function wrapped(
  name: keyof typeof models,
  options: StrataMiddlewareOptions = {},
  steps: readonly ScriptStep[] = script,
) {
  const simulator = createSimulator({ seed: 1, model: createScripted(steps) });
  const bodies: unknown[] = [];
  const told: ReportedCall[] = [];
  const middleware = strataMiddleware({
    onCall: (call) => told.push(call),
    onProblem: (problem) => {
      throw problem;
    },
    ...options,
  });
  const model = wrapLanguageModel({
    model: models[name](async (input, init) => {
      bodies.push(JSON.parse(init?.body as string));
      return simulator.fetch(input, init);
    }),
    middleware,
  });
  return { simulator, bodies, told, middleware, model };
}

const question = { instructions: manual, prompt: "Why is CI red?", tools };

describe.each(Object.keys(models) as (keyof typeof models)[])("with %s", (name) => {
  test.each(["generateText", "streamText"])(
    "%s through a tool is one turn of two calls in the ledger, the second read from the cache",
    async (how) => {
      const { model, told } = wrapped(name, { session: { ledger, id: "demo" } });
      // Google keeps nothing below 4,096 tokens.
      const instructions = manual.repeat(2);
      const request = { model, ...question, instructions, stopWhen: isStepCount(5) };
      const result = how === "generateText" ? await generateText(request) : streamText(request);
      expect(await result.text).toBe("It is red because of line 3.");
      expect(told.map(({ sessionId, entry }) => [sessionId, entry.status])).toEqual([
        ["demo", "complete"],
        ["demo", "complete"],
      ]);
      const [first, second] = told.map(({ entry }) => entry);
      expect(second?.usage?.cacheReadTokens).toBeGreaterThan(1024);
      // Google promises no read, so each one is more than was expected.
      expect(second?.verdict?.kind).toBe(name === "google" ? "read more" : "as expected");
      expect(second?.costPicoUsd).toBeGreaterThan(0n);
      expect(first?.turnId).toBe(second?.turnId);
      const turnId = first?.turnId ?? "";
      expect((await ledger.findTurn(turnId))?.status).toBe("completed");
      const messages = await ledger.readMessages(turnId);
      expect(messages.map(({ message }) => message.role)).toEqual([
        "user",
        "assistant",
        "tool",
        "assistant",
      ]);
      expect(told.map(({ lostMarkers }) => lostMarkers)).toEqual([0, 0]);
      expect(await problemsOf(ledger)).toEqual([]);
    },
  );
});

test("markers of the plan stand in the request, and those of the application make way", async () => {
  const { model, bodies } = wrapped("anthropic");
  const marked = { anthropic: { cacheControl: { type: "ephemeral" as const } } };
  await generateText({
    model,
    tools,
    messages: [
      { role: "system", content: manual },
      { role: "user", content: [{ type: "text", text: "Why?", providerOptions: marked }] },
    ],
    allowSystemInMessages: true,
  });
  const text = JSON.stringify(bodies[0]);
  expect(text.match(/cache_control/g)?.length).toBe(2);
  expect(bodies[0]).toMatchObject({
    system: [{ cache_control: { type: "ephemeral" } }],
    messages: [{ role: "user", content: [{ cache_control: { type: "ephemeral" } }] }],
  });
});

const hour = { type: "ephemeral", ttl: "1h" } as const;

test.each<[string, ProviderOptions, ProviderOptions]>([
  ["the request", { anthropic: { cacheControl: hour } }, {}],
  ["a part, as it is spelled on the wire", {}, { anthropic: { cache_control: hour } }],
])(
  "a marker of the application on %s makes way, call after call",
  async (_name, request, marked) => {
    const { model, bodies, told } = wrapped("anthropic", {}, [
      { text: "A word. ".repeat(600), times: "always" },
    ]);
    const messages: ModelMessage[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      const text = `Question ${turn}: ${"more of it ".repeat(800)}`;
      messages.push({ role: "user", content: [{ type: "text", text, providerOptions: marked }] });
      const about = { model, instructions: manual, messages, maxRetries: 0 };
      const { text: said } = await generateText({ ...about, providerOptions: request });
      messages.push({ role: "assistant", content: said });
    }
    const verdicts = told.map(({ entry }) => entry.verdict?.kind);
    expect(verdicts).toEqual(Array(3).fill("as expected"));
    const sent = bodies.map((body) => JSON.stringify(body).match(/"cache_control"/g)?.length);
    expect(sent).toEqual(told.map(({ plan }) => plan.markers.length));
  },
);

test("a marker of the application on a tool's result makes way", async () => {
  const { model, bodies, told } = wrapped("anthropic", {}, [{ text: "I see." }]);
  const providerOptions = { anthropic: { cacheControl: hour } };
  const use = { toolCallId: "t1", toolName: "look" };
  await generateText({
    model,
    instructions: manual,
    tools: { look: tools.look },
    maxRetries: 0,
    messages: [
      { role: "user", content: "Why is CI red?" },
      { role: "assistant", content: [{ type: "tool-call", ...use, input: {} }] },
      {
        role: "tool",
        content: [
          { type: "tool-result", ...use, output: { type: "text", value: "red", providerOptions } },
          {
            type: "tool-result",
            ...use,
            output: { type: "content", value: [{ type: "text", text: "red", providerOptions }] },
          },
        ],
      },
    ],
  }).catch(() => {});
  expect(bodies).toHaveLength(1);
  expect(told).toHaveLength(1);
  expect(JSON.stringify(bodies)).not.toContain('"1h"');
});

test("a conversation that goes on is one session, over several calls of the SDK and over processes", async () => {
  const { model, told } = wrapped("anthropic", { session: { ledger, id: "demo" } });
  const messages: ModelMessage[] = [{ role: "user", content: "Why is CI red?" }];
  const about = { model, instructions: manual, tools, stopWhen: isStepCount(5) };
  const first = await generateText({ ...about, messages });
  messages.push(...first.responseMessages, { role: "user", content: "Thank you." });
  const second = await generateText({ ...about, messages });
  expect(told.map(({ sessionId }) => sessionId)).toEqual(["demo", "demo", "demo"]);
  expect((await ledger.findSession("demo"))?.turnCount).toBe(2);
  expect(told[2]?.entry.usage?.cacheReadTokens).toBeGreaterThan(1024);
  messages.push(...second.responseMessages, { role: "user", content: "And now?" });
  const events = createEventBus({ store: ledger, onProblem: () => {} });
  const again = { ledger, id: "demo", events };
  const later = wrapped("anthropic", { session: again }, [{ text: "Nothing." }]);
  await generateText({ ...about, model: later.model, messages });
  expect(later.told.map(({ sessionId }) => sessionId)).toEqual(["demo"]);
  await events.close();
  const types: string[] = [];
  for await (const { type } of ledger.readEvents({ sessionId: "demo" })) types.push(type);
  expect(types.slice(0, 2)).toEqual(["session.resumed", "turn.started"]);
  expect((await ledger.findSession("demo"))?.turnCount).toBe(3);
});

test("another history, and a call at the same time, are sessions of their own", async () => {
  const { model, told } = wrapped("anthropic", { session: { ledger, id: "demo" } }, [
    { text: "Hi.", times: "always" },
  ]);
  const ask = (prompt: string) => generateText({ model, instructions: manual, prompt });
  await Promise.all([ask("Hello."), ask("Good day.")]);
  await generateText({
    model,
    instructions: manual,
    messages: [
      { role: "user", content: "Hello." },
      { role: "assistant", content: "Hello to you." },
      { role: "user", content: "And now?" },
    ],
  });
  expect(told.map(({ sessionId }) => sessionId).toSorted()).toEqual(["demo", "demo/2", "demo/3"]);
  expect(await problemsOf(ledger)).toEqual([]);
});

test("a call that fails in the middle of a turn is tried again in the same turn", async () => {
  const { model, told, simulator } = wrapped("anthropic", { session: { ledger, id: "demo" } });
  let asked = 0;
  const failing = {
    look: tool({
      ...tools.look,
      execute: () => {
        asked += 1;
        simulator.fault({ kind: "overloaded" });
        return "red: line 3";
      },
    }),
  };
  await generateText({ model, ...question, tools: failing, stopWhen: isStepCount(5) });
  expect(asked).toBe(1);
  expect(told.map(({ entry }) => [entry.number, entry.status])).toEqual([
    [1, "complete"],
    [2, "failed"],
    [3, "complete"],
  ]);
  expect(new Set(told.map(({ entry }) => entry.turnId)).size).toBe(1);
  expect(told[1]?.entry.failure?.kind).toBe("overloaded");
  expect(await problemsOf(ledger)).toEqual([]);
});

test("a stream that is cut or left is recorded as far as it came", async () => {
  const long = [{ text: "It is red because of line 3. ".repeat(40), times: "always" as const }];
  const { model, told, simulator } = wrapped(
    "anthropic",
    { session: { ledger, id: "demo" } },
    long,
  );
  simulator.fault({ kind: "cut", afterEvents: 5 });
  const cut = streamText({ model, ...question, maxRetries: 0, onError: () => {} });
  await cut.consumeStream();
  await expect.poll(() => told.length).toBe(1);
  expect(told[0]?.entry.status).not.toBe("complete");
  expect(told[0]?.entry.failure?.kind).toBe("unreachable");
  const controller = new AbortController();
  const left = streamText({ model, ...question, abortSignal: controller.signal });
  for await (const _ of left.textStream) controller.abort();
  await expect.poll(() => told.length).toBe(2);
  expect(told[1]?.entry.failure?.kind).toBe("cancelled");
  expect((await ledger.findSession("demo"))?.openTurnId).toBeNull();
  expect(await problemsOf(ledger)).toEqual([]);
});

test("turns that wait for tools nobody runs are given up by close", async () => {
  const { model, middleware, told } = wrapped("anthropic", { session: { ledger, id: "demo" } });
  await generateText({ model, ...question });
  const turnId = told[0]?.entry.turnId ?? "";
  expect((await ledger.findSession("demo"))?.openTurnId).toBe(turnId);
  await middleware.close();
  expect((await ledger.findTurn(turnId))?.status).toBe("failed");
  expect((await ledger.findSession("demo"))?.openTurnId).toBeNull();
});

test("a new conversation knows what a turn that waits for its tools has cached", async () => {
  const steps = [...script.slice(0, 1), { text: "Claude." }];
  const { model, told } = wrapped("anthropic", {}, steps);
  await generateText({ model, ...question });
  await generateText({ model, ...question, prompt: "Who are you?" });
  const [first, second] = told;
  expect(second?.sessionId).not.toBe(first?.sessionId);
  expect(second?.plan.expected.readTokens).toBeGreaterThan(1024);
  expect(second?.entry.verdict?.kind).toBe("as expected");
});

test("a model we do not know is called all the same, and that is said", async () => {
  const problems: unknown[] = [];
  const { model, told, bodies } = wrapped(
    "anthropic",
    { model: "no-such-model", onProblem: (problem) => problems.push(problem) },
    [{ text: "Hi." }],
  );
  const { text } = await generateText({ model, instructions: manual, prompt: "Hello." });
  expect([text, told.length]).toEqual(["Hi.", 0]);
  expect(JSON.stringify(bodies)).not.toContain("cache_control");
  expect(problems).toMatchObject([{ code: "model-unknown" }]);
});
