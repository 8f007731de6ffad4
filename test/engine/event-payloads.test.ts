// Goal: every event says what it is required to say, and leads back to what it follows from. Method: one session that
// does everything once, with tools, questions, a sub-agent, faults, an abort and a second process; its trace is read
// against the table of required fields.
import { expect, test } from "vitest";
import { checkTrace } from "../../harness/check-trace.ts";
import type { EventType } from "../../src/core/events/event-catalogue.ts";
import type { StrataEvent } from "../../src/core/events/event.ts";
import type { TurnHandle } from "../../src/engine/turn/turn-handle.ts";
import { createScripted, type ScriptStep } from "../../src/simulator/index.ts";
import { eventsOf, makePlace, plantedKey, serve, start, type Started } from "./test-kit.ts";

/** What D-08 requires, without what it leaves to the emitter; and what operators asked for since. */
const required: Partial<Record<EventType, readonly string[]>> = {
  "session.created": [
    "agent",
    "workspace_path",
    "workspace_hash",
    "initial_active_model",
    "routing_policy_version",
  ],
  "session.resumed": ["workspace_hash", "last_event_id_at_resume"],
  "turn.started": [
    "user_message_hash",
    "estimated_input_tokens",
    "has_images",
    "has_tool_calls_in_history",
  ],
  "turn.completed": [
    "stop_reason",
    "llm_call_count",
    "tool_call_count",
    "total_input_tokens",
    "total_output_tokens",
    "total_cost_usd",
    "wall_time_seconds",
  ],
  "turn.cancelled": ["reason", "partial_llm_calls", "partial_tool_calls"],
  "llm.call_started": ["model", "provider", "estimated_input_tokens", "request_id", "is_worker"],
  "llm.call_completed": [
    "model",
    "provider",
    "input_tokens",
    "output_tokens",
    "cached_input_tokens",
    "cache_creation_input_tokens",
    "cost_usd",
    "pricing_version",
    "latency_ms",
    "stop_reason",
    "produced_tool_calls",
    "produced_thinking_blocks",
  ],
  "llm.call_failed": [
    "model",
    "provider",
    "error_class",
    "error_message_redacted",
    "retry_count",
    "latency_ms",
  ],
  "tool.called": ["tool_use_id", "tool_name", "input_hash", "input_size_bytes", "side_effects"],
  "tool.completed": ["tool_use_id", "tool_name", "success", "output_size_bytes", "latency_ms"],
  "tool.failed": ["tool_use_id", "tool_name", "error_class", "error_message", "latency_ms"],
  "tool.input_invalid": ["tool_name", "validation_errors"],
  "tool.confirmation_requested": ["tool_use_id", "tool_name", "input_hash", "side_effects"],
  "tool.confirmation_resolved": ["tool_use_id", "decision", "latency_ms"],
  "skill.search": ["query", "results_count", "result_skill_ids"],
  "skill.modified": ["skill_id", "operation", "before_version", "after_version"],
};

const skill = { name: "deploy", description: "How to deploy.", body: "Push, then wait." };

const toolCalls = [
  { name: "read", input: { path: "notes.txt" } },
  { name: "read", input: { path: "missing.txt" } },
  { name: "read", input: { path: 7 } },
  { name: "write", input: { path: "new.txt", content: "New." } },
  { name: "bash", input: { command: "echo hello" } },
  { name: "skill_search", input: { query: "release" } },
  { name: "skill_save", input: skill },
];

const steps: readonly ScriptStep[] = [
  { text: "Looking.", toolCalls },
  { text: "Asking.", toolCalls: [{ name: "delegate", input: { task: "Count the files." } }] },
  { text: "There are two." },
  { text: "All done." },
  { text: "Cut off." },
  // Whoever aborts may do so before the model is asked.
  { text: "Welcome." },
  { text: "Welcome." },
];

/** The session `s` with everything in it, and those it asked for. */
async function runEverything(): Promise<{
  own: readonly StrataEvent[];
  all: readonly StrataEvent[];
}> {
  const place = makePlace();
  let aborting: TurnHandle | null = null;
  const { url, simulator } = await serve({ model: createScripted(steps) }, () => aborting?.abort());
  place.put("notes.txt", "The port is 4177.\n");
  place.configure(`
models: { default: claude-sonnet-4-6 }
providers:
  anthropic:
    base_url: ${url}
    api_key: ${plantedKey}
    retries: { attempts_max: 2, backoff_ms_base: 1 }
tools: { toolset: full, bash: true }
sub_agents: { enabled: true }
`);
  const first = await start(place, { confirm: () => Promise.resolve(true) });
  const session = await first.engine.open({ id: "s" });
  expect((await session.run("Do everything.").result).end).toBe("done");
  // An attempt that was billed and came to nothing, then one that is refused.
  simulator.fault({ kind: "cut", afterEvents: 1 }, { kind: "server error" });
  expect((await session.run("Fail.").result).end).toBe("failed");
  aborting = session.run("Stop.");
  expect((await aborting.result).end).toBe("cancelled");
  aborting = null;
  await first.events.flush();
  await first.close();

  const second = await start(place);
  const again = await second.engine.resume("s");
  expect((await again.run("Hello again.").result).end).toBe("done");
  return { own: await eventsOf(second, "s"), all: await allEvents(second) };
}

async function allEvents({ ledger, events }: Started): Promise<readonly StrataEvent[]> {
  await events.flush();
  const all: StrataEvent[] = [];
  for await (const event of ledger.readEvents({})) all.push(event);
  return all;
}

test("every event of a session that does everything says what it must, and what it follows from (D-08, D-09)", async () => {
  const { own, all } = await runEverything();
  const types = new Set<string>(own.map(({ type }) => type));
  expect(Object.keys(required).filter((type) => !types.has(type))).toEqual([]);
  const missing = all.flatMap(({ type, payload }) =>
    (required[type] ?? [])
      .filter((field) => !Object.hasOwn(payload, field))
      .map((field) => `${type}.${field}`),
  );
  expect(missing).toEqual([]);

  expect(checkTrace(all)).toEqual([]);
  const byId = new Map(all.map((event) => [event.id, event]));
  const causes = (type: EventType): readonly string[] => {
    const found = all.filter((event) => event.type === type);
    const parents = found.map(({ parentEventId }) => byId.get(parentEventId ?? "")?.type ?? "none");
    return [...new Set(parents)].toSorted();
  };
  expect(causes("llm.call_completed")).toEqual(["llm.call_started"]);
  expect(causes("llm.call_failed")).toEqual(["llm.call_started"]);
  expect(causes("tool.called")).toEqual(["llm.call_completed", "tool.confirmation_resolved"]);
  expect(causes("tool.completed")).toEqual(["tool.called"]);
  expect(causes("tool.failed")).toEqual(["llm.call_completed", "tool.called"]);
  expect(causes("skill.search")).toEqual(["tool.called"]);
  expect(causes("llm.call_started")).toEqual(["tool.completed", "turn.started"]);
  expect(causes("turn.completed")).toEqual(["turn.started"]);
  expect(causes("turn.cancelled")).toEqual(["turn.started"]);
  expect(causes("turn.failed")).toEqual(["turn.started"]);

  const delegated = own.find(
    (event) => event.type === "tool.called" && event.payload.tool_name === "delegate",
  );
  const created = all.find((event) => event.type === "session.created" && event.sessionId !== "s");
  expect(created).toMatchObject({
    parentEventId: delegated?.id,
    payload: { agent: "ana", parent_session_id: "s" },
  });
  const called = all.filter((event) => event.type === "llm.call_completed");
  expect(
    called.map(({ sessionId, payload }) => [sessionId === "s", payload.parent_session_id ?? null]),
  ).toEqual([
    [true, null],
    [true, null],
    [false, "s"],
    [true, null],
    [true, null],
  ]);

  const failed = all.find((event) => event.type === "llm.call_failed");
  expect(failed?.payload).toMatchObject({ error_class: "server_error", retry_count: 1 });
  expect(Number(failed?.payload.cost_usd)).toBeGreaterThan(0);
  const resumed = own.find(({ type }) => type === "session.resumed");
  const before = own[own.findIndex(({ type }) => type === "session.resumed") - 1];
  expect(resumed).toMatchObject({
    parentEventId: before?.id,
    payload: { last_event_id_at_resume: before?.id },
  });
});
