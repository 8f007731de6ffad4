// Goal: the trace of a session says what happened, in order, with causes. Method: a session on the simulator with a
// bus whose store is the ledger, with tools, pauses and a failure; the trace is read back and checked.
import { afterEach, beforeEach, expect, test } from "vitest";
import { runSimulated, type SimulatedTurn } from "../harness/simulated-session.ts";
import { checkTrace } from "../harness/check-trace.ts";
import type { StrataEvent } from "../src/core/events/event.ts";
import type { Ledger } from "../src/core/ledger/ledger.ts";
import { findPolicy } from "../src/core/cache/policies.ts";
import { resolveModel } from "../src/core/models/resolve-model.ts";
import { toUsd } from "../src/core/events/payload-spelling.ts";
import { cheapCounter } from "../src/core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../src/core/wire/anthropic-messages/index.ts";
import { createEventBus, type EventBus } from "../src/edge/events/event-bus.ts";
import type { BusProblem } from "../src/edge/events/problem.ts";
import { openLedger } from "../src/edge/stores/open-ledger.ts";
import type { SessionSetup } from "../src/core/session/session.ts";
import type { SimulatedRun } from "../harness/simulated-session.ts";

let ledger: Ledger;
let bus: EventBus;
let problems: BusProblem[];

beforeEach(async () => {
  ledger = await openLedger(":memory:");
  problems = [];
  bus = createEventBus({
    store: ledger,
    strictness: "strict",
    onProblem: (problem) => problems.push(problem),
  });
});

afterEach(() => ledger.close());

const secret = "the launch is on Friday";

const tool = { name: "look", input: { place: "shelf" } };

const turns: readonly SimulatedTurn[] = [
  {
    afterMs: 0,
    text: `Remember that ${secret}.`,
    replies: [{ text: "Looking.", toolCalls: [tool] }, { text: "Noted." }],
  },
  { afterMs: 60_000, text: "And?", replies: [{ text: "Nothing new." }] },
  { afterMs: 3 * 3_600_000, text: "Back again.", replies: [{ text: "Welcome." }] },
];

async function run(
  more: readonly SimulatedTurn[] = [],
  other: Partial<SessionSetup> = {},
): Promise<SimulatedRun> {
  const done = await runSimulated({
    setup: {
      id: "demo",
      model: resolveModel("claude-sonnet-4-6").facts,
      protocol: anthropicMessages,
      policy: findPolicy("tail-5m"),
      context: { role: "unified", workspaceRules: "Answer briefly. ".repeat(900) },
      counter: cheapCounter,
      options: { outputTokensMax: 100, stream: true },
      ...other,
    },
    turns: [...turns, ...more],
    toolResult: () => "An empty shelf.",
    events: bus,
    ledger,
  });
  await bus.flush();
  return done;
}

async function trace(): Promise<readonly StrataEvent[]> {
  const events: StrataEvent[] = [];
  for await (const event of ledger.readEvents({ sessionId: "demo" })) events.push(event);
  return events;
}

test("a session leaves a trace in the ledger in which every event has its cause (D-09, CF-H)", async () => {
  await run();
  const events = await trace();
  expect(events.map(({ type, turnId }) => `${turnId} ${type}`)).toEqual([
    "null session.created",
    "turn-1 turn.started",
    "turn-1 route.decided",
    "turn-1 llm.call_started",
    "turn-1 llm.call_completed",
    "turn-1 llm.call_started",
    "turn-1 llm.call_completed",
    "turn-1 turn.completed",
    "turn-2 turn.started",
    "turn-2 route.decided",
    "turn-2 llm.call_started",
    "turn-2 llm.call_completed",
    "turn-2 turn.completed",
    "turn-3 turn.started",
    "turn-3 route.decided",
    "turn-3 llm.call_started",
    "turn-3 llm.call_completed",
    "turn-3 cache.miss",
    "turn-3 turn.completed",
  ]);
  expect(checkTrace(events)).toEqual([]);
  expect(problems).toEqual([]);
});

test("events add up to what the calls cost, to the last digit", async () => {
  const { calls } = await run();
  const told = (await trace()).flatMap((event) =>
    event.type === "llm.call_completed" ? [event.payload] : [],
  );
  expect(told.map(({ cost_usd: cost }) => cost)).toEqual(
    calls.map(({ costPicoUsd }) => toUsd(costPicoUsd)),
  );
  expect(told.map((payload) => payload.cached_input_tokens)).toEqual(
    calls.map(({ usage }) => usage?.cacheReadTokens),
  );
});

test("a pause that outlived the cache is told as a miss, with what it lost", async () => {
  const { calls } = await run();
  const [miss, ...more] = (await trace()).flatMap((event) =>
    event.type === "cache.miss" ? [event.payload] : [],
  );
  expect(more).toEqual([]);
  expect(miss).toMatchObject({
    cause: "lifetime expired",
    detail: "after 180 min",
    reported_read_tokens: 0,
  });
  const before = calls.at(-2)?.usage;
  const sent = (before?.cacheReadTokens ?? 0) + (before?.cacheWriteTokens["5m"] ?? 0);
  expect(miss?.lost_tokens).toBe(sent);
});

test("where nothing is marked nothing is missed", async () => {
  await run([], { policy: findPolicy("none") });
  expect((await trace()).map(({ type }) => type)).not.toContain("cache.miss");
});

test("a call that fails is told with its class, and its turn as failed", async () => {
  await run([{ afterMs: 1000, text: "Once more.", replies: [] }]);
  const events = await trace();
  expect(events.slice(-2).map(({ type }) => type)).toEqual(["llm.call_failed", "turn.failed"]);
});

test("nothing of what was said is in the trace", async () => {
  await run();
  expect(JSON.stringify(await trace())).not.toContain(secret);
});

test("a bus that takes nothing more stops no turn, and says so itself", async () => {
  await bus.close();
  const { turns: runs } = await run();
  expect(runs.map(({ end }) => end)).toEqual(["done", "done", "done"]);
  expect(await trace()).toEqual([]);
});

test("skills that are in a session from the start are told before its first turn (M-32)", async () => {
  const body = "Tag it, then publish it. ".repeat(300);
  await run([], {
    policy: findPolicy("metis"),
    model: resolveModel("claude-haiku-4-5").facts,
    context: { role: "unified", workspaceRules: "Answer briefly." },
    skills: [{ name: "release", description: "How a release is made.", body, source: "global" }],
    workspacePath: "/shop",
  });
  const [created, loaded, started] = await trace();
  expect(created).toMatchObject({
    type: "session.created",
    payload: { workspace_path: "/shop", initial_active_model: "claude-haiku-4-5" },
  });
  expect(loaded).toMatchObject({
    type: "skill.loaded",
    turnId: null,
    parentEventId: created?.id,
    payload: {
      skill_id: "release",
      load_reason: "always",
      load_size_tokens: 1875,
      source: "global",
      triggered_by_tool_use_id: null,
    },
  });
  expect(started?.type).toBe("turn.started");
  expect((await ledger.findSession("demo"))?.workspacePath).toBe("/shop");
});
