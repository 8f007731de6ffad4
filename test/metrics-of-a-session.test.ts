// Goal: what operators watch says what happened (B-04). Method: sessions of the engine on the simulator, with tools,
// memory, a skill, documents, a pause and compacts; the text for Prometheus is parsed and compared with the calls.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { plantedKey } from "../harness/planted-key.ts";
import { runSimulated } from "../harness/simulated-session.ts";
import { findPolicy } from "../src/core/cache/policies.ts";
import type { StrataEvent } from "../src/core/events/event.ts";
import { toContextParts } from "../src/core/layers/workspace-bundle.ts";
import { costOf, savingsOverNoCache } from "../src/core/models/cost.ts";
import { coverage, hitRate, noUsage, promptTokens, totalUsage } from "../src/core/message/usage.ts";
import { resolveModel } from "../src/core/models/resolve-model.ts";
import { createSkillRegistry } from "../src/core/skills/skill-registry.ts";
import { cheapCounter } from "../src/core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../src/core/wire/anthropic-messages/index.ts";
import { createEventBus } from "../src/edge/events/event-bus.ts";
import { listMetrics } from "../src/edge/exporters/metric-specs.ts";
import { createMetrics } from "../src/edge/exporters/metrics.ts";
import { parseExposition, valueIn } from "../src/edge/exporters/test-kit.ts";
import { anthropicEndpoint } from "../src/core/wire/anthropic-messages/access.ts";
import { createProvider } from "../src/edge/providers/provider.ts";
import { openMemoryStore } from "../src/edge/files/memory/memory-store.ts";
import { openLedger } from "../src/edge/stores/open-ledger.ts";
import { openScope } from "../src/edge/files/guard/scoped-files.ts";
import { createSkillStore } from "../src/edge/files/skills/skill-store.ts";
import { createWorkspaceCache } from "../src/edge/files/workspace/workspace-cache.ts";
import { builtInTools } from "../src/edge/tools/built-in-tools.ts";
import { extendChain, openChain } from "../src/core/events/chain.ts";
import { createCallEmitter, type SharedChain } from "../src/edge/tools/dispatch/tool-trace.ts";
import { createDispatcher } from "../src/edge/tools/dispatch/dispatcher.ts";
import { memoryTools } from "../src/edge/tools/memory/memory-tools.ts";
import { skillTools } from "../src/edge/tools/skills/skill-tools.ts";
import { runTurn } from "../src/engine.ts";
import { openSession } from "../src/engine/session/open-session.ts";
import { createScripted, createSimulator } from "../src/simulator/index.ts";
import { sqliteStore } from "./ledger/stores.ts";
import { compactionsSoon, openWorld } from "./compaction/test-kit.ts";

const model = resolveModel("claude-sonnet-4-6").facts;
const labels = { agent: "ana", provider: "anthropic", model: "claude-sonnet-4-6" };
const { open } = sqliteStore();

function strictBus() {
  return createEventBus({
    strictness: "strict",
    onProblem: (problem) => {
      throw new Error("the bus has a problem", { cause: problem });
    },
  });
}

function sumUsd(picos: readonly bigint[]): number {
  return Number(picos.reduce((sum, pico) => sum + pico, 0n)) / 1e12;
}

test("N-18, N-33: tokens, dollars, drift and misses of a session are those of its calls", async () => {
  const metrics = createMetrics({ agentOf: (id) => (id === "demo" ? "ana" : null) });
  const bus = strictBus();
  const events: StrataEvent[] = [];
  bus.subscribe((event) => metrics.observe(event));
  bus.subscribe((event) => events.push(event));
  const look = { text: "Looking.", toolCalls: [{ name: "look", input: { place: "shelf" } }] };
  const { calls } = await runSimulated({
    setup: {
      id: "demo",
      model,
      protocol: anthropicMessages,
      policy: findPolicy("tail-5m"),
      context: { role: "unified", workspaceRules: "Answer briefly. ".repeat(900) },
      counter: cheapCounter,
      options: { outputTokensMax: 100, stream: true },
    },
    turns: [
      { afterMs: 0, text: "Look.", replies: [look, { text: "Nothing there." }] },
      { afterMs: 60_000, text: "And now?", replies: [{ text: "Nothing new." }] },
      { afterMs: 3 * 3_600_000, text: "Back again.", replies: [{ text: "Welcome." }] },
      { afterMs: 1000, text: "Once more.", replies: [] },
    ],
    toolResult: () => "An empty shelf.",
    events: bus,
  });
  await bus.flush();
  const families = parseExposition(await metrics.render());
  const value = (name: string, more: Readonly<Record<string, string>> = labels) =>
    valueIn(families, name, more);
  const usages = calls.flatMap(({ usage }) => (usage === null ? [] : [usage]));
  const usage = totalUsage(usages);
  expect(usages).toHaveLength(4);
  expect(value("llm_calls_total", { ...labels, outcome: "completed" })).toBe(4);
  expect(value("llm_cache_read_tokens_total")).toBe(usage.cacheReadTokens);
  expect(usage.cacheReadTokens).toBeGreaterThan(0);
  expect(value("llm_cache_creation_tokens_total")).toBe(usage.cacheWriteTokens["5m"]);
  expect(value("llm_cache_hit_ratio", { agent: "ana" })).toBe(hitRate(usage));
  expect(value("llm_cache_coverage_ratio", { agent: "ana" })).toBeCloseTo(
    coverage(usage) ?? -1,
    12,
  );
  expect(value("llm_tool_uses_total")).toBe(1);

  const atCall = calls.map(({ usage: used, startMs }) => ({ used: used ?? noUsage, at: startMs }));
  const spent = atCall.map(({ used, at }) => costOf(used, model, { at }).totalPicoUsd);
  const saved = atCall.map(({ used, at }) => savingsOverNoCache(used, model, { at }));
  expect(value("llm_cost_usd_total")).toBeCloseTo(sumUsd(spent), 12);
  expect(value("llm_cache_savings_usd")).toBeCloseTo(sumUsd(saved), 12);

  const estimates = events.flatMap((event) =>
    event.type === "llm.call_started" ? [event.payload.estimated_input_tokens] : [],
  );
  const drifts = usages.map((used, index) => {
    const actual = promptTokens(used);
    return (Math.abs((estimates[index] ?? 0) - actual) / actual) * 100;
  });
  expect(value("llm_prompt_tokens_estimated")).toBe(estimates.at(-1));
  expect(value("llm_prompt_tokens_drift_count")).toBe(4);
  expect(value("llm_prompt_tokens_drift_sum")).toBeCloseTo(
    drifts.reduce((sum, drift) => sum + drift, 0),
    9,
  );

  const expired = { agent: "ana", cause: "lifetime expired" };
  expect(value("llm_cache_misses_total", expired)).toBe(1);
  expect(value("llm_cache_lost_tokens_total", expired)).toBeGreaterThan(1024);
  expect(value("agent_turns_total", { agent: "ana", outcome: "completed" })).toBe(3);
  expect(value("agent_turns_total", { agent: "ana", outcome: "failed" })).toBe(1);
  const failed = families
    .get("llm_calls_total")
    ?.samples.filter((sample) => sample.labels["outcome"] !== "completed");
  expect(failed?.map((sample) => sample.value)).toEqual([1]);
  expect(families.get("strata_metrics_unread_total")?.samples).toEqual([]);

  // A recorded session gives the same text again.
  const again = createMetrics({ agentOf: () => "ana" });
  for (const event of events) again.observe(event);
  expect(await again.render()).toBe(await metrics.render());
});

test("N-24: folds of a session are counted with outcome and duration", async () => {
  const metrics = createMetrics({ agentOf: () => "ana" });
  const world = await openWorld(open, { settings: compactionsSoon });
  await world.say("Good morning.");
  await world.compact();
  await world.talk(9);
  for (const event of world.told) metrics.observe(event);
  const families = parseExposition(await metrics.render());
  const done = { agent: "ana", outcome: "ok" };
  const folds = world.payloads("compaction.completed");
  expect(folds.map(({ outcome }) => outcome)).toEqual(["ok"]);
  const triggered = "llm_compaction_triggered_total";
  expect(valueIn(families, triggered, { ...done, trigger: "token_pressure" })).toBe(1);
  const skipped = { agent: "ana", outcome: "no_boundary", trigger: "manual" };
  expect(valueIn(families, triggered, skipped)).toBe(1);
  expect(valueIn(families, "llm_compaction_duration_seconds_count", done)).toBe(1);
  expect(valueIn(families, "llm_compaction_cost_usd_total", done)).toBe(Number(folds[0]?.cost_usd));
});

test("N-42: tools, memory, skills and documents of an agent are counted", async () => {
  const root = mkdtempSync(join(tmpdir(), "strata-metrics-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(join(root, "AGENTS.md"), "Run the tests before you answer.\n");
  mkdirSync(join(root, ".strata/skills/release"), { recursive: true });
  writeFileSync(
    join(root, ".strata/skills/release/SKILL.md"),
    "---\nname: release\ndescription: How a release is made.\n---\n\nTag it, then publish.\n",
  );
  const bus = strictBus();
  const metrics = createMetrics({ agentOf: () => "ana" });
  bus.subscribe((event) => metrics.observe(event));
  const cache = createWorkspaceCache({});
  metrics.addWorkspaceCache(cache);
  await cache.load({ root, scope: "main" });
  const bundle = await cache.load({ root, scope: "main" });
  cache.invalidate(root);

  const files = await openScope(root);
  const chain: SharedChain = { current: null };
  bus.subscribe((event) => {
    if (event.type === "turn.started") chain.current = openChain(event.id);
    else if (chain.current !== null && event.turnId !== null) {
      chain.current = extendChain(chain.current, event);
    }
  });
  const emit = createCallEmitter(bus, chain);
  const skills = await createSkillStore({ workspace: root });
  const registry = createSkillRegistry();
  const dispatcher = createDispatcher({
    tools: [
      ...builtInTools(files, {}),
      ...memoryTools(await openMemoryStore(root), { emit }),
      ...skillTools({ store: skills, registry, emit }),
    ],
    workspace: files,
    events: bus,
  });
  const steps = [
    {
      text: "Looking.",
      toolCalls: [
        { name: "read", input: { path: "AGENTS.md" } },
        { name: "read", input: { path: "../secrets" } },
        { name: "skill_search", input: { query: "release" } },
        { name: "skill_load", input: { name: "release" } },
        { name: "memory_add", input: { file: "MEMORY.md", entry: "The port is 4177." } },
      ],
    },
    { text: "Done." },
  ];
  const simulator = createSimulator({ seed: 1, clock: "virtual", model: createScripted(steps) });
  const server = await simulator.listen({ port: 0 });
  const provider = createProvider({
    protocol: anthropicMessages,
    ...anthropicEndpoint({ apiKey: plantedKey, baseUrl: server.url }),
  });
  const ledger = await openLedger(":memory:");
  const session = openSession({
    id: "demo",
    agent: "ana",
    model,
    protocol: anthropicMessages,
    policy: findPolicy("adaptive"),
    context: { role: "unified", ...toContextParts(bundle) },
    tools: dispatcher.offered(),
    permissions: dispatcher.offered().flatMap(({ needs }) => needs),
    skills: skills.snapshot.skills,
    counter: cheapCounter,
    options: { outputTokensMax: 500, stream: true },
  });
  const run = await runTurn(
    session,
    { id: "turn-1", event: { content: "Which port?", source: "human" } },
    {
      provider,
      ledger,
      events: bus,
      runTools: (uses, call) => dispatcher.runAll(uses, call),
      now: () => simulator.clock.now(),
    },
  );
  await provider.close();
  await server.close();
  await ledger.close();
  expect(run.end).toBe("done");

  const families = parseExposition(await metrics.render());
  cache.close();
  const samples = (name: string): readonly (readonly [string, number])[] =>
    families
      .get(name)
      ?.samples.map((each): [string, number] => [Object.values(each.labels).join(" "), each.value])
      .toSorted(([left], [right]) => (left < right ? -1 : 1)) ?? [];
  expect(samples("workspace_cache_hits_total")).toEqual([[root, 1]]);
  expect(samples("workspace_cache_misses_total")).toEqual([[root, 1]]);
  expect(samples("workspace_cache_invalidations_total")).toEqual([[root, 1]]);
  expect(samples("agent_tool_calls_total")).toEqual([
    ["ana memory_add ok", 1],
    ["ana read ok", 1],
    ["ana skill_load ok", 1],
    ["ana skill_search ok", 1],
    // Refused before it was called, and no name was given.
    ["ana unknown permission_denied", 1],
  ]);
  expect(samples("agent_memory_updates_total")).toEqual([["ana MEMORY.md add", 1]]);
  expect(samples("agent_skill_loads_total")).toEqual([["ana on_demand workspace", 1]]);
  expect(samples("agent_skill_searches_total")).toEqual([["ana", 1]]);
  expect(samples("strata_metrics_unread_total")).toEqual([]);
});

test("docs/metrics.md names every metric with its type and labels, and no other", () => {
  const rows = readFileSync(join(import.meta.dirname, "../docs/metrics.md"), "utf8")
    .split("\n")
    .flatMap((line) => {
      const row = /^\| `(\w+)`\s*\| (counter|gauge|histogram)\s*\| ([^|]*?)\s*\|/.exec(line);
      return row === null ? [] : [`${row[1]} ${row[2]} ${row[3]}`];
    });
  const metrics = listMetrics().map(({ name, type, labels: names }) => {
    const shown = names.map((label) => `\`${label}\``).join(", ");
    return `${name} ${type} ${shown}`;
  });
  expect(rows.toSorted()).toEqual(metrics.toSorted());
});
