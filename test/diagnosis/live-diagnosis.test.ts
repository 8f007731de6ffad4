// Goal: while a session runs, each miss gets its true cause, and an honest provider is never blamed.
// Method: sessions of the engine on the simulator, under every policy, with text that changes on every turn.
import { expect, test } from "vitest";
import { playEngine } from "../../harness/live/live-engine.ts";
import {
  plantBreak,
  plantedBeta,
  randomLiveTalk,
  type LivePlant,
} from "../../harness/live/live-talk.ts";
import { createRandom } from "../../harness/random-message.ts";
import { randomWords } from "../../harness/random/random-talk.ts";
import { runSimulated, type SimulatedRun } from "../../harness/simulated-session.ts";
import { findPolicy } from "../../src/core/cache/policies.ts";
import { policyNames, type PolicyName } from "../../src/core/cache/policy.ts";
import type { PayloadOf } from "../../src/core/events/event.ts";
import { noUsage, promptTokens } from "../../src/core/message/usage.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../../src/core/wire/anthropic-messages/index.ts";
import { createEventBus } from "../../src/edge/events/event-bus.ts";
import { createScripted } from "../../src/simulator/index.ts";
import { serveVendor } from "../compatible/vendor-server.ts";
import { openWorld as openCompacted } from "../compaction/test-kit.ts";
import { eventsOf, makePlace, plantedKey, serve, start } from "../engine/test-kit.ts";
import { sqliteStore } from "../ledger/stores.ts";

interface Watched {
  readonly run: SimulatedRun;
  readonly misses: readonly PayloadOf<"cache.miss">[];
}

async function play(policy: PolicyName, pauseMs = 60_000): Promise<Watched> {
  const random = createRandom(5);
  const misses: PayloadOf<"cache.miss">[] = [];
  const bus = createEventBus({ onProblem: () => {} });
  bus.subscribe((event) => {
    if (event.type === "cache.miss") misses.push(event.payload);
  });
  const tool = { name: "look", description: randomWords(random, 100) };
  const inputSchemaJson = '{"type":"object","properties":{"place":{"type":"string"}}}';
  const run = await runSimulated({
    setup: {
      id: "live",
      model: resolveModel("claude-sonnet-4-6").facts,
      protocol: anthropicMessages,
      policy: findPolicy(policy),
      context: { role: "unified", workspaceRules: randomWords(random, 4000) },
      tools: [{ definition: { ...tool, inputSchemaJson }, needs: [] }],
      counter: cheapCounter,
      options: { outputTokensMax: 1000, stream: true },
    },
    turns: Array.from({ length: 6 }, (_, index) => ({
      afterMs: index === 5 ? pauseMs : 60_000,
      text: randomWords(random, 400),
      replies: [
        { text: "Looking.", toolCalls: [{ name: "look", input: { place: "shelf" } }] },
        { text: randomWords(random, 300) },
      ],
      volatile: [
        {
          name: "memory",
          layer: "memory",
          stability: "turn",
          text: `Note ${index}: ${randomWords(random, 30)}`,
        },
      ],
    })),
    toolResult: () => randomWords(random, 200),
    events: bus,
  });
  await bus.close();
  return { run, misses };
}

test.each(policyNames)("under %s an honest provider is not blamed", async (policy) => {
  const { run, misses } = await play(policy);
  expect(run.calls).toHaveLength(12);
  expect(run.calls.flatMap(({ refuted }) => refuted)).toEqual([]);
  expect(run.calls.map(({ verdict }) => verdict?.kind)).toEqual(
    Array.from({ length: 12 }, () => "as expected"),
  );
  // Only text that changes on every turn breaks a prefix here, and it is named.
  expect(new Set(misses.map(({ block_tier: tier }) => tier))).toEqual(
    new Set(breaksItself.has(policy) ? ["T5"] : []),
  );
});

/** Volatile text stands before the history, or before the only marker. */
const breaksItself: ReadonlySet<PolicyName> = new Set(["metis", "hermes", "automatic"]);

test("a layout that breaks its own cache is named, with block and byte", async () => {
  const { misses } = await play("metis");
  expect(misses[0]).toMatchObject({
    cause: "system changed",
    block_tier: "T5",
    block_label: "volatile",
    block_index: 2,
  });
  expect(misses[0]?.block_byte_offset).toBeGreaterThan(0);
  expect(Number(misses[0]?.lost_cost_usd)).toBeGreaterThan(0);
});

test("a pause that outlived the cache is named, and never loses more than the prompt", async () => {
  const { run, misses } = await play("tail-5m", 7_200_000);
  const [miss, ...more] = misses;
  expect(more).toEqual([]);
  expect(miss).toMatchObject({ cause: "lifetime expired", detail: "after 120 min" });
  const usage = run.calls.at(-2)?.usage ?? noUsage;
  expect(miss?.lost_tokens).toBeLessThanOrEqual(promptTokens(usage));
});

const cases: readonly [LivePlant, object][] = [
  ["tool choice", { cause: "parameter changed", detail: "tool choice: auto → none" }],
  ["effort", { cause: "parameter changed", detail: "effort: default → low" }],
  ["beta header", { cause: "beta header changed", detail: `none → ${plantedBeta}` }],
];

test.each(cases)("a drift of the %s between two turns is named", async (kind, expected) => {
  const random = createRandom(3);
  const talk = { ...randomLiveTalk(random, "tool choice", "tail-5m"), model: "claude-sonnet-4-6" };
  const { calls, planted } = await playEngine(talk, plantBreak(kind, talk, random));
  const misses = calls.flatMap(({ miss }, at) => (miss === null ? [] : [{ at, ...miss }]));
  expect(misses).toMatchObject([{ at: planted, ...expected }]);
});

test("beta features of the configuration and of configured headers are compared", async () => {
  const place = makePlace();
  const { simulator, url } = await serve({
    model: createScripted([{ text: "Yes.", times: "always" }]),
  });
  place.put("AGENTS.md", "Be brief. ".repeat(2000));
  const configure = (plan: string, header: string): void =>
    place.configure(`
models: { default: claude-sonnet-4-6 }
policies: { default: tail-5m }
context_optimization: { prompt_cache: { beta_header: ${plan} } }
providers:
  anthropic:
    base_url: "${url}"
    api_key: ${plantedKey}
    headers: { anthropic-beta: ${header} }
`);
  configure("plan-a", "mine-a");
  const host = await start(place);
  const session = await host.engine.open();
  await session.run("Hello.").result;
  for (const [plan, header] of [
    ["plan-b", "mine-a"],
    ["plan-b", "mine-b"],
  ] as const) {
    configure(plan, header);
    simulator.billing.clear();
    await session.run("Hello again.").result;
  }
  const told = await eventsOf(host, session.session.id);
  expect(
    told.flatMap((event) => (event.type === "cache.miss" ? [event.payload] : [])),
  ).toMatchObject([
    { cause: "beta header changed", detail: "mine-a,plan-a → mine-a,plan-b" },
    { cause: "beta header changed", detail: "mine-a,plan-b → mine-b,plan-b" },
  ]);
});

test("another host behind a router is named", async () => {
  const place = makePlace();
  const server = await serveVendor("openrouter");
  place.put("AGENTS.md", "Be brief, and say where you looked. ".repeat(400));
  place.put("notes.md", "hello");
  place.configure(`
models: { default: openrouter/claude-sonnet-4-6 }
tools: { toolset: read-only }
policies: { default: tail-5m }
providers: { openrouter: { kind: openai-compatible, base_url: "${server.url}", api_key: ${plantedKey} } }
`);
  const started = await start(place);
  const session = await started.engine.open();
  const { calls } = await session.run("What is in notes.md?").result;
  const host = calls.at(-1)?.servedBy ?? "";
  server.simulator.fault({ kind: "overloaded", host });
  const next = await session.run("And again?").result;
  const told = await eventsOf(started, session.session.id);
  const [miss] = told.flatMap((event) => (event.type === "cache.miss" ? [event.payload] : []));
  expect(miss).toMatchObject({
    cause: "another host",
    detail: `${host} → ${next.calls[0]?.servedBy}`,
  });
  expect(next.calls[0]?.servedBy).not.toBe(host);
});

test("a miss is explained where a server takes the system prompt as one string", async () => {
  const place = makePlace();
  const server = await serveVendor("deepseek", { clock: "virtual" });
  place.put("AGENTS.md", "Be brief, and say where you looked. ".repeat(400));
  place.put("notes.md", "hello");
  place.configure(`
models: { default: deepseek-flash }
tools: { toolset: read-only }
providers: { deepseek: { base_url: "${server.url}", api_key: ${plantedKey} } }
`);
  const started = await start(place);
  const session = await started.engine.open();
  await session.run("What is in notes.md?").result;
  await server.simulator.clock.advance(2 * 3_600_000);
  expect((await session.run("And again?").result).end).toBe("done");
  const told = await eventsOf(started, session.session.id);
  expect(told.filter(({ type }) => type === "cache.miss")).not.toEqual([]);
});

test("a tail whose marker found no slot is named", async () => {
  const random = createRandom(6);
  const misses: PayloadOf<"cache.miss">[] = [];
  const events = createEventBus({ onProblem: () => {} });
  events.subscribe((event) => {
    if (event.type === "cache.miss") misses.push(event.payload);
  });
  const places = [
    "last tool",
    "last stable system block",
    "latest user",
    "previous tail",
    "tail",
  ] as const;
  const rules = places.map((at) => ({ place: { at }, lifetime: "5m" as const }));
  const look = { text: "Looking.", toolCalls: [{ name: "look", input: { place: "shelf" } }] };
  const inputSchemaJson = '{"type":"object","properties":{"place":{"type":"string"}}}';
  await runSimulated({
    setup: {
      id: "slots",
      model: resolveModel("claude-sonnet-4-6").facts,
      protocol: anthropicMessages,
      policy: { ...findPolicy("tail-5m"), markers: { kind: "rules", rules } },
      context: { role: "unified", workspaceRules: randomWords(random, 3000) },
      tools: [
        {
          definition: { name: "look", description: randomWords(random, 1500), inputSchemaJson },
          needs: [],
        },
      ],
      counter: cheapCounter,
      options: { outputTokensMax: 1000, stream: true },
    },
    turns: [{ afterMs: 1000, text: "Go.", replies: [look, look, look, { text: "Done." }] }],
    toolResult: () => randomWords(random, 1500),
    events,
  });
  await events.close();
  expect(misses[0]).toMatchObject({ cause: "no slot for a marker" });
  expect(misses[0]?.block_label).toMatch(/^tool result in /);
  expect(misses.map(({ cause }) => cause)).not.toContain("provider lost it");
});

test("after a compaction that follows a pause of two hours, no call loses more than its prompt", async () => {
  const world = await openCompacted(sqliteStore().open, { windowTokens: 100_000 });
  await world.talk(10, { tokens: 5000 });
  await world.pass(7_200_000);
  expect((await world.compact()).kind).toBe("compacted");
  expect(world.payloads("cache.miss")).toEqual([]);
  const { calls } = await world.say("And now?");
  const [miss, ...more] = world.payloads("cache.miss");
  expect(more).toEqual([]);
  // Only the head is left of the prompt before.
  expect(miss).toMatchObject({ cause: "lifetime expired", block_label: "static" });
  expect(miss?.lost_tokens).toBeLessThanOrEqual(promptTokens(calls[0]?.usage ?? noUsage));
});
