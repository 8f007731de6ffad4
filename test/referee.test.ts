// Goal: the simulator follows the provider's documents where money is at stake. Method: requests over its public API,
// as a client would send them, and plans of our own that it bills.
import { describe, expect, test } from "vitest";
import { resolveModel } from "../src/core/models/resolve-model.ts";
import { encodeOptions } from "../src/core/wire/anthropic-messages/options.ts";
import type { CallOptions } from "../src/core/wire/protocol.ts";
import { createBilling, createScripted, createSimulator } from "../src/simulator/index.ts";

// Replies are read by field name.
// oxlint-disable-next-line typescript/no-explicit-any
type Any = any;

interface Client {
  readonly send: (body: object) => Promise<{ status: number; headers: Headers; body: Any }>;
  readonly advance: (ms: number) => Promise<void>;
  readonly ledger: () => Promise<Any[]>;
}

function createClient(): Client {
  const simulator = createSimulator({
    clock: "virtual",
    seed: 1,
    control: true,
    model: createScripted([{ times: "always", thinking: "Hm.", text: "Yes." }]),
  });
  const headers = { "x-api-key": "key", "anthropic-version": "2023-06-01" };
  return {
    send: async (body) => {
      const response = await simulator.fetch("http://localhost/v1/messages", {
        method: "POST",
        headers,
        body: JSON.stringify({ max_tokens: 2000, ...body }),
      });
      return { status: response.status, headers: response.headers, body: await response.json() };
    },
    advance: (ms) => simulator.clock.advance(ms),
    ledger: async () => {
      const response = await simulator.fetch("http://localhost/_sim/ledger");
      return ((await response.json()) as Any).calls;
    },
  };
}

const long = "word ".repeat(3000);
const marked = { cache_control: { type: "ephemeral" } };
const system = [{ type: "text", text: long, ...marked }];
const asked = { role: "user", content: [{ type: "text", text: "Is it so?", ...marked }] };

describe("thinking", () => {
  const byDefault = ["claude-opus-5", "claude-sonnet-5"];

  test.each(byDefault)("%s thinks if the request says nothing", async (model) => {
    const { body } = await createClient().send({ model, system, messages: [asked] });
    expect(body.content.map(({ type }: Any) => type)).toEqual(["thinking", "text"]);
  });

  test.each(["claude-opus-4-8", "claude-sonnet-4-6"])("%s does not", async (model) => {
    const { body } = await createClient().send({ model, system, messages: [asked] });
    expect(body.content.map(({ type }: Any) => type)).toEqual(["text"]);
  });

  test.each([
    ...byDefault.map((model) => [model, "adaptive"] as const),
    ["claude-opus-4-8", "disabled"] as const,
    ["claude-sonnet-4-6", "disabled"] as const,
  ])("an explicit default equals leaving it out: %s %s", async (model, type) => {
    const client = createClient();
    const body = { model, system, messages: [asked] };
    const first = await client.send(body);
    const second = await client.send({ ...body, thinking: { type } });
    const written = first.body.usage.cache_creation_input_tokens;
    expect(second.body.usage).toMatchObject({ cache_read_input_tokens: written });
  });

  test.each(byDefault)("%s: switching it off loses the messages", async (model) => {
    const client = createClient();
    const body = { model, system, messages: [asked] };
    const first = await client.send(body);
    const second = await client.send({ ...body, thinking: { type: "disabled" } });
    expect(second.status).toBe(200);
    expect(second.body.content.map(({ type }: Any) => type)).toEqual(["text"]);
    const written = first.body.usage.cache_creation_input_tokens;
    expect(second.body.usage.cache_read_input_tokens).toBeLessThan(written);
  });

  test.each([
    "claude-opus-4-7",
    "claude-opus-4-8",
    "claude-opus-5",
    "claude-sonnet-5",
    "claude-fable-5",
    "claude-haiku-5-5",
    "claude-opus-5-5",
  ])("%s refuses a budget with 400", async (model) => {
    const thinking = { type: "enabled", budget_tokens: 1024 };
    const { status, body } = await createClient().send({ model, messages: [asked], thinking });
    expect(status).toBe(400);
    expect(body.error.message).toContain('"thinking.type.enabled" is not supported');
  });

  test.each(["claude-sonnet-4-6", "claude-haiku-4-5", "claude-mythos-preview"])(
    "%s takes a budget",
    async (model) => {
      const thinking = { type: "enabled", budget_tokens: 1024 };
      const { status } = await createClient().send({ model, messages: [asked], thinking });
      expect(status).toBe(200);
    },
  );

  test.each(["claude-opus-4-5", "claude-sonnet-4-5", "claude-haiku-4-5"])(
    "%s refuses adaptive thinking",
    async (model) => {
      const thinking = { type: "adaptive" };
      const { status } = await createClient().send({ model, messages: [asked], thinking });
      expect(status).toBe(400);
    },
  );

  test.each(["claude-fable-5", "claude-mythos-5", "claude-mythos-preview"])(
    "%s cannot be switched off",
    async (model) => {
      const thinking = { type: "disabled" };
      const { status } = await createClient().send({ model, messages: [asked], thinking });
      expect(status).toBe(400);
    },
  );

  test.each([
    ["high", 200],
    ["xhigh", 400],
    ["max", 400],
  ])("Opus 5 without thinking at effort %s is answered with %d", async (effort, expected) => {
    const { status } = await createClient().send({
      model: "claude-opus-5",
      messages: [asked],
      thinking: { type: "disabled" },
      output_config: { effort },
    });
    expect(status).toBe(expected);
  });

  test("switched off in the middle of a tool turn, that turn's thinking is not in the prompt", async () => {
    const client = createClient();
    const model = "claude-sonnet-5";
    const tools = [{ name: "read", description: "Reads.", input_schema: { type: "object" } }];
    const first = await client.send({ model, tools, system, messages: [asked] });
    const [thought] = first.body.content;
    const use = { type: "tool_use", id: "t1", name: "read", input: {} };
    const result = { type: "tool_result", tool_use_id: "t1", content: "text" };
    const rest = (blocks: readonly object[]): object => ({
      model,
      tools,
      system,
      messages: [
        asked,
        { role: "assistant", content: [...blocks, use] },
        { role: "user", content: [result] },
      ],
      thinking: { type: "disabled" },
    });
    const withThought = await client.send(rest([thought]));
    const without = await client.send(rest([]));
    expect(withThought.status).toBe(200);
    expect(total(withThought.body)).toBe(total(without.body));
    expect(without.body.usage.cache_read_input_tokens).toBe(
      withThought.body.usage.cache_read_input_tokens +
        withThought.body.usage.cache_creation_input_tokens,
    );
  });
});

function total({ usage }: Any): number {
  const { input_tokens: plain, cache_read_input_tokens: read } = usage;
  return plain + read + usage.cache_creation_input_tokens;
}

describe("our own requests", () => {
  const refused: readonly (readonly [string, Partial<CallOptions>])[] = [
    ["claude-opus-5", { thinkingJson: budget(1024) }],
    ["claude-opus-4-7", { thinkingJson: budget(1024) }],
    ["claude-fable-5", { thinkingJson: '{"type":"disabled"}' }],
    ["claude-opus-4-5", { thinkingJson: '{"type":"adaptive"}' }],
    ["claude-opus-5", { thinkingJson: '{"type":"disabled"}', effort: "max" }],
    ["claude-sonnet-5", { temperature: 0.5 }],
    ["claude-opus-5", { extraJson: { thinking: budget(1024) } }],
  ];

  test.each(refused)("to %s never have options that it refuses: %j", async (name, options) => {
    const { members, notes } = encoded(name, options);
    const { status, body } = await createClient().send({
      model: name,
      messages: [asked],
      ...members,
    });
    expect([status, body.error?.message]).toEqual([200, undefined]);
    expect(notes).toHaveLength(1);
  });

  test("have the options that a model takes, unchanged", () => {
    const options = { thinkingJson: '{"type":"disabled"}', effort: "high" };
    const { members, notes } = encoded("claude-opus-5", options);
    expect(members).toEqual({ thinking: { type: "disabled" }, output_config: { effort: "high" } });
    expect(notes).toEqual([]);
  });
});

function budget(tokens: number): string {
  return JSON.stringify({ type: "enabled", budget_tokens: tokens });
}

function encoded(
  name: string,
  given: Partial<CallOptions>,
): { readonly members: object; readonly notes: readonly unknown[] } {
  const options: CallOptions = { outputTokensMax: 2000, stream: false, ...given };
  const surroundings = { requestMarker: null, hasTools: false };
  const { members, notes } = encodeOptions(options, resolveModel(name).facts, surroundings);
  const parsed = [...members].map(([key, json]) => [key, JSON.parse(json)] as const);
  return { members: Object.fromEntries(parsed), notes };
}

describe("a marker at or before the hit", () => {
  const minuteMs = 60_000;

  test.each([
    ["was never written", []],
    ["expired", [{ ...marked, cache_control: { type: "ephemeral", ttl: "1h" } }]],
  ] as const)("for 1h writes nothing where a 1h entry %s", async (_what, before) => {
    const client = createClient();
    const model = "claude-sonnet-4-6";
    const body = (mark: object): object => ({
      model,
      system: [{ type: "text", text: long, ...mark }],
      messages: [{ role: "user", content: "Go on." }],
    });
    for (const mark of before) await client.send(body(mark));
    // The 1h entry expires, and a 5m entry of the same prefix is written after that.
    await client.advance(61 * minuteMs);
    await client.send(body(marked));
    await client.advance(minuteMs);
    const hour = { cache_control: { type: "ephemeral", ttl: "1h" } };
    const hit = await client.send(body(hour));
    expect(hit.body.usage).toMatchObject({ cache_creation_input_tokens: 0 });
    expect(hit.body.usage.cache_read_input_tokens).toBeGreaterThan(2000);
    await client.advance(6 * minuteMs);
    const later = await client.send(body(marked));
    expect(later.body.usage).toMatchObject({ cache_read_input_tokens: 0 });
  });

  test("writes for both if that reading is chosen", () => {
    const { facts: model } = resolveModel("claude-sonnet-4-6");
    const billing = createBilling({ markerBeforeHit: "writes" });
    const blocks = ["a", "b"].map((hash) => ({
      hash,
      tokens: 2000,
      tier: "messages" as const,
      run: null,
      boundary: null,
    }));
    const send = (lifetime: "5m" | "1h", startMs: number): number => {
      const open = billing.open({
        id: `${startMs}`,
        workspace: "w",
        model,
        settings: {},
        blocks,
        markers: [{ block: 0, lifetime, origin: "explicit" }],
        mode: "explicit",
        startMs,
      });
      open.begin();
      return open.bill.readTokens;
    };
    const reads = [
      send("5m", 0),
      send("1h", minuteMs),
      send("5m", 50 * minuteMs),
      send("5m", 160 * minuteMs),
      send("1h", 161 * minuteMs),
      send("5m", 200 * minuteMs),
    ];
    expect(reads).toEqual([0, 2000, 2000, 0, 2000, 2000]);
  });
});

test("the workspace in the header of an answer is the one in the simulator's ledger", async () => {
  const client = createClient();
  const { headers } = await client.send({ model: "claude-sonnet-5", messages: [asked] });
  const [call] = await client.ledger();
  expect(call.workspace).toMatch(/^wrkspc_/);
  expect(headers.get("anthropic-workspace-id")).toBe(call.workspace);
});
