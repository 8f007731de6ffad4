// Goal: a turn's result says everything it came to. Method: a scripted model on the simulator uses real tools; a second
// process goes on with a turn that the first one left after a call.
import { expect, test } from "vitest";
import { noUsage, type Usage } from "../../src/core/message/usage.ts";
import type { TurnResult } from "../../src/engine.ts";
import { createScripted, type ScriptStep } from "../../src/simulator/index.ts";
import { openWorld } from "../own-loop/test-kit.ts";
import { makePlace, plantedKey, serve, start, type Place } from "./test-kit.ts";

async function setUp(steps: readonly ScriptStep[]): Promise<Place> {
  const place = makePlace();
  const { url } = await serve({ model: createScripted(steps) });
  place.put("a.txt", "old\n");
  place.configure(
    `models: { default: claude-haiku-4-5 }
tools: { toolset: full, bash: true, confirm: [] }
providers: { anthropic: { base_url: "${url}", api_key: ${plantedKey} } }`,
  );
  return place;
}

const steps: readonly ScriptStep[] = [
  {
    text: "Looking.",
    toolCalls: [
      { name: "read", input: { path: "a.txt" } },
      { name: "bash", input: { command: "sleep 0.02; exit 3" } },
    ],
  },
  { text: "Done." },
];

const words = ({ content }: { readonly content: readonly unknown[] }): string =>
  JSON.stringify(content);

test("X-08: what was said, which tools ran when and with what, usage and cost in sum; JSON takes it", async () => {
  const started = await start(await setUp(steps));
  const session = await started.engine.session("s");
  const result = await session.run("Look.").result;
  const { messages, toolCalls, calls } = result;
  expect(messages.map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "tool",
    "tool",
    "assistant",
  ]);
  expect(words(messages[0] ?? { content: [] })).toContain("Look.");
  expect(toolCalls).toMatchObject([
    { name: "read", inputJson: '{"path":"a.txt"}', status: "succeeded", callNumber: 1 },
    { name: "bash", status: "failed", result: { isError: true } },
  ]);
  const [read, bash] = toolCalls;
  expect((bash?.endMs ?? 0) - (bash?.startMs ?? 0)).toBeGreaterThan(10);
  expect(bash?.startMs).toBeGreaterThanOrEqual(read?.endMs ?? Infinity);
  const stored = await started.ledger.readToolCalls(result.turnId);
  expect(stored.map(({ startMs, endMs }) => ({ startMs, endMs }))).toEqual(
    toolCalls.map(({ startMs, endMs }) => ({ startMs, endMs })),
  );
  expect(result).toMatchObject({ end: "done", stopReason: "end_turn", error: null });
  const sum = calls.reduce((total, { costPicoUsd }) => total + (costPicoUsd ?? 0n), 0n);
  expect(result.costPicoUsd).toBe(sum);
  expect(sum).toBeGreaterThan(0n);
  const saved = calls.reduce((tokens, { usage }) => tokens + savedIn(usage), 0);
  expect(result.saved.tokens).toBe(Math.round(saved));
  expect(result.saved.picoUsd).toBeTypeOf("bigint");
  const text: unknown = JSON.parse(JSON.stringify(result));
  expect(text).toMatchObject({ costPicoUsd: String(sum), toolCalls: [{ name: "read" }, {}] });
});

test("a call that read too little says so while the turn runs and in its result, with cause and byte", async () => {
  const place = makePlace();
  const { url } = await serve({ model: createScripted([{ text: "One." }, { text: "Two." }]) });
  place.configure(
    `models: { default: claude-sonnet-4-6 }
policies: { default: hermes }
providers: { anthropic: { base_url: "${url}", api_key: ${plantedKey} } }`,
  );
  const session = await (await start(place)).engine.session("s");
  const first = await session.run("Remember these words. ".repeat(1000)).result;
  expect(first.calls.map(({ miss }) => miss)).toEqual([null]);
  const handle = session.run("And?");
  const told: unknown[] = [];
  for await (const part of handle) if (part.type === "miss") told.push(part);
  const { calls } = await handle.result;
  expect(calls[0]?.miss).toMatchObject({ cause: "system changed", block_tier: "T5" });
  expect(calls[0]?.miss?.block_byte_offset).toBeGreaterThan(0);
  expect(calls[0]?.miss?.lost_tokens).toBeGreaterThan(1024);
  expect(told).toEqual([{ type: "miss", callNumber: 1, miss: calls[0]?.miss }]);
});

/** By the multipliers of claude-haiku-4-5: 0.1 for reads, 1.25 for five minutes. */
function savedIn(usage: Usage | null): number {
  const { cacheReadTokens: read, cacheWriteTokens: written } = usage ?? noUsage;
  return 0.9 * read - 0.25 * (written["5m"] ?? 0) - (written["1h"] ?? 0);
}

async function inTwo(isReleased: boolean): Promise<TurnResult> {
  const { engine, post } = await openWorld();
  const session = await engine.open({ id: "s" });
  const first = await session.prepare("Look.", { id: "t" });
  const { toolUses } = await session.record(first, await post(first));
  if (isReleased) await session.release();
  const other = isReleased ? await engine.resume("s") : session;
  const asked = isReleased ? (await other.prepareUnfinished()).toolUses : toolUses;
  const answers = asked.map(({ id }) => ({ toolUseId: id, content: "red" }));
  const second = await other.prepare(answers);
  const { run } = await other.record(second, await post(second));
  if (run === null) throw new Error("the turn goes on");
  return run;
}

const shown = ({ turnId, messages, toolCalls, calls, usage, costPicoUsd }: TurnResult) => ({
  turnId,
  messages: messages.map(({ role, content, callNumber }) => ({ role, content, callNumber })),
  tools: toolCalls.map(({ name, inputJson, status, result }) => ({
    name,
    inputJson,
    status,
    result,
  })),
  calls: calls.map(({ number, sent, reply }) => ({ number, sent, reply })),
  usage,
  costPicoUsd,
});

test("X-08: the result of a resumed turn has the calls and messages from before, as one that nothing interrupted", async () => {
  const resumed = await inTwo(true);
  expect(shown(resumed)).toEqual(shown(await inTwo(false)));
  expect(resumed.calls).toHaveLength(2);
  expect(JSON.parse(JSON.stringify(resumed))).toHaveProperty("calls.0.costPicoUsd");
});

test("X-08: the result of a resumed turn has the times of tools that ran before it", async () => {
  const { engine, post, simulator, ledger } = await openWorld();
  const session = await engine.open({ id: "s" });
  const first = await session.prepare("Look.", { id: "t" });
  const { toolUses } = await session.record(first, await post(first));
  const startMs = simulator.clock.now();
  await simulator.clock.advance(7_000);
  await session.prepare(toolUses.map(({ id }) => ({ toolUseId: id, content: "red" })));
  await session.release();
  await simulator.clock.advance(60_000);
  const other = await engine.resume("s");
  await other.prepareUnfinished();
  const second = await other.prepare([]);
  const { run } = await other.record(second, await post(second));
  const times = { startMs, endMs: startMs + 7_000 };
  expect(run?.toolCalls).toMatchObject([{ name: "look", status: "succeeded", ...times }]);
  expect(await ledger.readToolCalls("t")).toMatchObject([{ name: "look", ...times }]);
});
