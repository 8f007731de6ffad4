// Goal: where it is configured, a provider is asked why its cache missed, and its answer is kept beside our verdict.
// Method: engines configured by file on the simulator, which answers from what it saw; requests, ledger and metrics are looked at.
import { expect, test } from "vitest";
import type { CallEntry } from "../../src/core/ledger/call-entry.ts";
import { createMetrics } from "../../src/edge/exporters/index.ts";
import { openEngine } from "../../src/index.ts";
import { createScripted } from "../../src/simulator/index.ts";
import { serveVendor } from "../compatible/vendor-server.ts";
import { eventsOf, makePlace, plantedKey, serve, start, type Place } from "../engine/test-kit.ts";

const talks = createScripted([{ text: "A word in reply. ".repeat(100), times: "always" }]);

interface Asked {
  readonly kind?: string;
  readonly model?: string;
  readonly diagnose?: string;
  readonly more?: string;
}

function configure(place: Place, url: string, asked: Asked = {}): void {
  const { kind = "anthropic", model = "claude-sonnet-4-6" } = asked;
  const { diagnose = "diagnose: true", more = "" } = asked;
  place.put("AGENTS.md", "Every answer names the file it speaks of. ".repeat(700));
  place.configure(`
models: { default: ${model} }
policies: { default: tail-5m }
providers: { ${kind}: { base_url: "${url}", api_key: ${plantedKey}, ${diagnose} } }
${more}
`);
}

function saidIn(calls: readonly CallEntry[]): readonly unknown[] {
  return calls.map(({ diagnosis }) => diagnosis ?? null);
}

test("calls without the setting ask nothing, and nothing is kept", async () => {
  const place = makePlace();
  const bodies: string[] = [];
  const { url } = await serve({ model: talks }, (_, body) => void bodies.push(body));
  configure(place, url, { diagnose: "" });
  const { engine } = await start(place);
  const session = await engine.open();
  const calls = [];
  for (const text of ["Hello.", "And now?"]) calls.push(...(await session.run(text).result).calls);
  expect(bodies.join("")).not.toContain("diagnostics");
  expect(saidIn(calls)).toEqual([null, null]);
});

test("Claude is asked with the id of the reply before, and its answer stands beside our verdict", async () => {
  const place = makePlace();
  const asked: unknown[] = [];
  const look = {
    text: "Looking.",
    toolCalls: [{ name: "read_file", input: { path: "notes.md" } }],
  };
  const model = createScripted([
    { ...look, times: 2 },
    { text: "Seen.", times: "always" },
  ]);
  const { simulator, url } = await serve({ model }, (_, body) => {
    asked.push((JSON.parse(body) as { diagnostics: unknown }).diagnostics);
  });
  configure(place, url, { more: "tools: { toolset: read-only }" });
  place.put("notes.md", "hello");
  const host = await start(place);
  const metrics = createMetrics({ agentOf: () => "ana" });
  host.events.subscribe((event) => metrics.observe(event));
  const session = await host.engine.open();
  const calls: CallEntry[] = [];
  const say = async (text: string): Promise<void> => {
    calls.push(...(await session.run(text).result).calls);
  };
  await say("Look twice.");
  await session.useModel("claude-haiku-4-5");
  await say("And with another model?");
  simulator.billing.clear();
  await say("And with an empty cache?");
  expect(asked).toEqual([
    { previous_message_id: null },
    ...Array.from({ length: 4 }, () => ({ previous_message_id: expect.stringMatching(/^msg_/) })),
  ]);
  expect(new Set(asked.map((each) => JSON.stringify(each))).size).toBe(5);
  expect(saidIn(calls)).toEqual([
    null,
    // The time stood at the end of the prompt before, and is not sent again.
    { says: "messages_changed", agreement: "not comparable" },
    { says: "no difference", agreement: "agrees" },
    { says: "model_changed", agreement: "agrees" },
    { says: "messages_changed", agreement: "not comparable" },
  ]);
  const kept = await host.ledger.readCalls(calls[3]?.turnId ?? "");
  expect(kept[0]?.diagnosis).toEqual({ says: "model_changed", agreement: "agrees" });
  const told = await eventsOf(host, session.session.id);
  expect(
    told.flatMap(({ type, payload }) => (type === "cache.miss" ? [payload] : [])),
  ).toMatchObject([
    { cause: "model changed", provider_diagnosis: "model_changed", diagnosis_agreement: "agrees" },
    { cause: "provider lost it" },
  ]);
  expect(await metrics.render()).toContain(
    'llm_cache_diagnoses_total{agent="ana",provider="anthropic",agreement="agrees"} 2',
  );
});

test("another process goes on with the reply before", async () => {
  const place = makePlace();
  const asked: unknown[] = [];
  const { url } = await serve({ model: talks }, (_, body) => {
    asked.push((JSON.parse(body) as { diagnostics: unknown }).diagnostics);
  });
  configure(place, url);
  const first = await start(place);
  const { id } = (await (await first.engine.open()).run("Hello.").result).session;
  await first.close();
  const second = await start(place);
  const { calls } = await (await second.engine.session(id)).run("And now?").result;
  expect(asked[1]).toEqual({ previous_message_id: expect.stringMatching(/^msg_/) });
  expect(saidIn(calls)).toEqual([{ says: "messages_changed", agreement: "not comparable" }]);
});

test("the Responses API is asked with the id of the response before", async () => {
  const place = makePlace();
  const asked: unknown[] = [];
  const { simulator, url } = await serve({ model: talks }, (_, body) => {
    const { prompt_cache_options: options = {} } = JSON.parse(body) as Record<string, object>;
    asked.push(options);
  });
  const openai = { kind: "openai", model: "gpt-6.1-sol" };
  configure(place, `${url}/v1`, openai);
  const { engine } = await start(place);
  const session = await engine.open();
  const calls: CallEntry[] = [];
  for (const text of ["Hello.", "And now?", "And then?"]) {
    if (text === "And then?") simulator.billing.clear();
    calls.push(...(await session.run(text).result).calls);
  }
  expect(asked[0]).not.toHaveProperty("comparison_response_id");
  expect(asked.slice(1)).toMatchObject(
    calls.slice(1).map(() => ({ comparison_response_id: expect.stringMatching(/^resp_/) })),
  );
  expect(saidIn(calls)).toEqual([
    null,
    { says: "no difference", agreement: "agrees" },
    // Its word for a prefix that was the same and could not be read.
    { says: "unavailable", agreement: "agrees" },
  ]);
});

test("a server that refuses unknown fields is never asked, and the call notes why", async () => {
  const place = makePlace();
  const server = await serveVendor("openrouter");
  const model = "openrouter/claude-sonnet-4-6";
  place.put("notes.md", "hello");
  configure(place, server.url, {
    kind: "openrouter",
    model,
    diagnose: "diagnose: true, kind: openai-compatible",
    more: "tools: { toolset: read-only }",
  });
  const { engine } = await start(place);
  const { calls, end } = await (await engine.open()).run("What is in notes.md?").result;
  expect([end, server.refusals()]).toEqual(["done", []]);
  expect(JSON.stringify(server.bodies)).not.toMatch(/diagnostics|comparison_response_id/);
  expect(saidIn(calls)).toEqual([null, null]);
  expect(calls[0]?.notes).toContainEqual({
    kind: "option-ignored",
    detail: "diagnose: the provider of this model says nothing about its cache",
  });
});

test("openEngine asks where the program wants it", async () => {
  const options = { model: "claude-sonnet-4-6", simulate: true, diagnose: true };
  const system = "Every answer names the file it speaks of. ".repeat(700);
  await using engine = await openEngine({ ...options, system, policy: "tail-5m" });
  const session = await engine.open();
  const calls: CallEntry[] = [];
  for (const text of ["Hello.", "And now?"]) calls.push(...(await session.run(text).result).calls);
  expect(saidIn(calls)).toMatchObject([null, { says: "messages_changed" }]);
});
