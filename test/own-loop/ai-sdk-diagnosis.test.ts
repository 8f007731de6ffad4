// Goal: an application of the Vercel AI SDK that breaks its own cache is told what broke it; others hear nothing.
// Method: conversations through a wrapped model on the simulator; one call of each is changed.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import {
  generateText,
  jsonSchema,
  streamText,
  tool,
  wrapLanguageModel,
  type ModelMessage,
  type ToolSet,
} from "ai";
import { describe, expect, test } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";
import type { PayloadOf } from "../../src/core/events/event.ts";
import { createEventBus } from "../../src/edge/events/event-bus.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import {
  strataMiddleware,
  type ReportedCall,
  type StrataMiddlewareOptions,
} from "../../src/integrations/ai-sdk/index.ts";
import { createScripted, createSimulator, type ScriptStep } from "../../src/simulator/index.ts";
import { claude, manual } from "./test-kit.ts";

const openai = (fetch: typeof globalThis.fetch) =>
  createOpenAI({ baseURL: "http://localhost/v1", apiKey: plantedKey, fetch });

const models = {
  anthropic: (fetch: typeof globalThis.fetch, model: string = claude) =>
    createAnthropic({ baseURL: "http://localhost/v1", apiKey: plantedKey, fetch })(model),
  "openai responses": (fetch: typeof globalThis.fetch, model = "gpt-6.1-sol") =>
    openai(fetch)(model),
  "openai chat": (fetch: typeof globalThis.fetch, model = "gpt-6.1-sol") =>
    openai(fetch).chat(model),
} as const;

function look(description: string) {
  const inputSchema = jsonSchema<{ path: string }>({ type: "object", properties: {} });
  return tool({ description, inputSchema, execute: () => "seen" });
}

const talks: ScriptStep = { text: "A word in reply. ".repeat(200), times: "always" };

function wrapped(
  name: keyof typeof models,
  options: StrataMiddlewareOptions = {},
  script: readonly ScriptStep[] = [talks],
) {
  const model = createScripted(script);
  const simulator = createSimulator({ seed: 1, clock: "virtual", model });
  const told: ReportedCall[] = [];
  const middleware = strataMiddleware({
    onCall: (call) => told.push(call),
    now: () => simulator.clock.now(),
    onProblem: (problem) => {
      throw problem;
    },
    ...options,
  });
  const open = (id?: string) => models[name](simulator.fetch, id);
  const wrap = (opened: ReturnType<typeof open>) =>
    wrapLanguageModel({ model: opened, middleware });
  return { simulator, told, open, wrap, model: wrap(open()) };
}

interface Shape {
  model: ReturnType<typeof wrapped>["model"];
  instructions: string;
  tools: ToolSet;
  messages: ModelMessage[];
  toolChoice?: "none";
  headers?: Record<string, string>;
  providerOptions?: NonNullable<ModelMessage["providerOptions"]>;
}

/** Two turns as they are, and a third in the shape that `change` gives it. */
async function play(world: ReturnType<typeof wrapped>, change: (shape: Shape) => Partial<Shape>) {
  const { model, told, simulator } = world;
  const shape: Shape = {
    model,
    instructions: manual,
    tools: { look: look("Looks at a file."), read: look("Reads a file.") },
    messages: [],
  };
  for (let turn = 1; turn <= 3; turn += 1) {
    await simulator.clock.advance(20_000);
    shape.messages.push({ role: "user", content: `Question ${turn}: ${"why? ".repeat(900)}` });
    const asked = turn < 3 ? shape : { ...shape, ...change(shape) };
    const { text } = await generateText({ ...asked, maxRetries: 0 });
    shape.messages.push({ role: "assistant", content: text });
  }
  expect(told.slice(0, 2).map(({ miss }) => miss)).toEqual([null, null]);
  return { miss: told[2]?.miss ?? null, shape };
}

const breaks: readonly [string, (shape: Shape) => Partial<Shape>, object][] = [
  [
    "changed system text",
    ({ instructions }) => ({ instructions: instructions.replace("e", "E") }),
    { cause: "system changed", block_tier: "T1", block_label: "system 1" },
  ],
  [
    "a changed tool",
    ({ tools }) => ({ tools: { ...tools, read: look("Reads a whole file.") } }),
    { cause: "tools changed", block_tier: "T0", block_label: "tool read" },
  ],
  [
    "tools in another order",
    ({ tools }) => ({ tools: { read: tools["read"]!, look: tools["look"]! } }),
    { cause: "tools reordered", block_tier: "T0" },
  ],
  [
    "a rewritten first message",
    ({ messages }) => ({
      messages: messages.with(0, { role: "user", content: `Question 0: ${"who? ".repeat(900)}` }),
    }),
    { cause: "history rewritten", block_tier: "T3", block_label: "user message 0" },
  ],
  [
    "a rewritten reply",
    ({ messages }) => ({
      messages: messages.with(1, { role: "assistant", content: "[cleared]" }),
    }),
    { cause: "history rewritten", block_tier: "T3", block_label: "assistant message 1" },
  ],
];

describe.each(Object.keys(models) as (keyof typeof models)[])("with %s", (name) => {
  test.each(breaks)("%s is named, with what it lost", async (_what, change, expected) => {
    const { miss } = await play(wrapped(name), change);
    expect(miss).toMatchObject(expected);
    expect(miss?.lost_tokens).toBeGreaterThan(2000);
    expect(Number(miss?.lost_cost_usd)).toBeGreaterThan(0);
  });

  test("a conversation that only grows gives no alarm", async () => {
    const { miss } = await play(wrapped(name), () => ({}));
    expect(miss).toBeNull();
  });
});

test("a changed parameter is named with both values, as the SDK sent them", async () => {
  const { miss } = await play(wrapped("anthropic"), () => ({ toolChoice: "none" }));
  expect(miss).toMatchObject({
    cause: "parameter changed",
    detail: "tool choice: auto → none",
    block_label: "user message 0",
  });
  const thinking = { type: "enabled", budgetTokens: 2000 };
  const thought = await play(wrapped("anthropic"), () => ({
    providerOptions: { anthropic: { thinking } },
  }));
  expect(thought.miss).toMatchObject({
    cause: "parameter changed",
    detail: "thinking: default → 2000 tokens",
  });
  const other = await play(wrapped("openai responses"), () => ({
    providerOptions: { openai: { reasoningEffort: "low" } },
  }));
  expect(other.miss).toMatchObject({ cause: "parameter changed" });
  expect(other.miss?.detail).toMatch(/^effort: .* → low$/);
});

test("another beta header is named where the cache is lost with it", async () => {
  const world = wrapped("anthropic");
  const { miss } = await play(world, () => {
    world.simulator.billing.clear();
    return { headers: { "Anthropic-Beta": "context-1m-2025-08-07" } };
  });
  expect(miss).toMatchObject({
    cause: "beta header changed",
    detail: "none → context-1m-2025-08-07",
  });
});

test("another model behind the same middleware is named", async () => {
  const world = wrapped("anthropic");
  const other = world.wrap(world.open("claude-haiku-4-5"));
  const { miss } = await play(world, () => ({ model: other }));
  expect(miss).toMatchObject({
    cause: "model changed",
    detail: "model: claude-sonnet-4-6 → claude-haiku-4-5",
  });
  expect(world.told.at(-1)?.entry.model).toBe("claude-haiku-4-5");
});

test("a break is an event of the call, also in a stream", async () => {
  const ledger = await openLedger(":memory:");
  const misses: PayloadOf<"cache.miss">[] = [];
  const events = createEventBus({ onProblem: () => {} });
  events.subscribe((event) => {
    if (event.type === "cache.miss") misses.push(event.payload);
  });
  const world = wrapped("anthropic", { session: { ledger, id: "demo", events } });
  const { shape } = await play(world, () => ({}));
  const messages = [...shape.messages, { role: "user", content: "And now?" } as const];
  const changed = { ...shape, messages, instructions: `Be brief. ${manual}` };
  await streamText({ ...changed, maxRetries: 0 }).consumeStream();
  await events.close();
  expect(misses).toHaveLength(1);
  expect(misses[0]).toMatchObject({ cause: "system changed", block_label: "system 1" });
  expect(world.told.at(-1)?.miss).toEqual(misses[0]);
  await ledger.close();
});

test("a new conversation is a first call, whatever its tools and system text: no alarm", async () => {
  const world = wrapped("anthropic");
  const { shape } = await play(world, () => ({}));
  const [first] = shape.messages;
  const others: readonly Partial<Shape>[] = [
    { messages: [{ role: "user", content: `Something else: ${"how? ".repeat(900)}` }] },
    { messages: first === undefined ? [] : [first], instructions: `Be brief. ${manual}` },
  ];
  for (const other of others) await generateText({ ...shape, ...other, maxRetries: 0 });
  expect(world.told.slice(3).map(({ miss }) => miss)).toEqual([null, null]);
});

test("where each call changes the system text, the oldest waiting turn is ended after 64 conversations", async () => {
  const ledger = await openLedger(":memory:");
  const session = { ledger, id: "clock" };
  const asks = { text: "Looking.", toolCalls: [{ name: "look", input: {} }] };
  const world = wrapped("anthropic", { session }, [{ ...asks, times: "always" }]);
  const tools = { look: look("Looks at a file.") };
  for (let minute = 0; minute < 66; minute += 1) {
    const instructions = `It is minute ${minute}.`;
    await generateText({ model: world.model, tools, instructions, prompt: "Why?", maxRetries: 0 });
  }
  const turns = await Promise.all(world.told.map(({ entry }) => ledger.findTurn(entry.turnId)));
  const statuses = turns.map((turn) => turn?.status);
  expect(statuses.slice(0, 3)).toEqual(["failed", "failed", "pending"]);
  await ledger.close();
});
