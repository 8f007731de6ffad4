// Goal: a session goes on with other models, and back, without losing a word or a cache. Method: turns on the simulator
// in three protocols, compared with what it received and billed, and with the same session read from the ledger.
import { describe, expect, test } from "vitest";
import type { CallEntry } from "../../src/core/ledger/call-entry.ts";
import type { TurnResult } from "../../src/engine.ts";
import type { RunOptions } from "../../src/engine/turn/turn-handle.ts";
import type { EngineSession } from "../../src/engine/session/engine-session.ts";
import type { TurnPart } from "../../src/engine/turn/turn-handle.ts";
import { asksForSummary } from "../../src/simulator/behaviours/summariser.ts";
import { createScripted, createSummariser, type ScriptStep } from "../../src/simulator/index.ts";
import { eventsOf, makePlace, plantedKey, serve, start, type Place } from "./test-kit.ts";

const sonnet = "claude-sonnet-4-6";
const haiku = "claude-haiku-4-5";
const gpt = "gpt-5.5";

const configOf = (url: string, more = ""): string => `
models: { default: ${sonnet}, aliases: { small: ${haiku} } }
policies: { default: tail-5m }
providers:
  anthropic: { base_url: "${url}", api_key: ${plantedKey} }
  openai: { base_url: "${url}/v1", api_key: ${plantedKey} }
${more}
`;

const rules = "Be brief, and say where you looked. ".repeat(900);

interface Scene {
  readonly place: Place;
  readonly bodies: readonly string[];
  readonly url: string;
}

async function setUp(steps: readonly ScriptStep[], more = ""): Promise<Scene> {
  const place = makePlace();
  const bodies: string[] = [];
  const { url } = await serve(
    { model: createScripted(steps) },
    (_, body) => void bodies.push(body),
  );
  place.put("AGENTS.md", rules);
  place.configure(configOf(url, more));
  return { place, bodies, url };
}

async function say(
  session: EngineSession,
  text: string,
  options: RunOptions = {},
): Promise<CallEntry> {
  const { end, calls } = await session.run(text, options).result;
  expect(end).toBe("done");
  const last = calls.at(-1);
  if (last === undefined) throw new Error("no call was made");
  return last;
}

const answers = (count: number): readonly ScriptStep[] =>
  Array.from({ length: count }, (_, index) => ({ text: `Answer ${index + 1}.` }));

describe("one route per turn (D-13)", () => {
  const patterns = `routing: { sticky: false, patterns: [{ match: "^quick", model: small }] }`;

  test("a pattern sends a turn elsewhere, the next one goes back and reads what was cached", async () => {
    const { place } = await setUp(answers(3), patterns);
    const started = await start(place);
    const session = await started.engine.open({ id: "s" });
    const first = await say(session, "Explain the parser.");
    const second = await say(session, "quick: which file is it in?");
    const third = await say(session, "And who calls it?");
    expect([first, second, third].map(({ model }) => model)).toEqual([sonnet, haiku, sonnet]);
    expect(second.usage?.cacheReadTokens).toBe(0);
    expect(third.usage?.cacheReadTokens).toBe(writtenIn(first));
    const decided = (await eventsOf(started, "s")).filter(({ type }) => type === "route.decided");
    expect(decided.map(({ payload }) => payload)).toMatchObject([
      { model: sonnet, reason: "global_default", cache_effect: "same_model", previous_model: null },
      {
        model: haiku,
        reason: "pattern",
        cache_effect: "starts_cold",
        previous_model: sonnet,
        cached_tokens: 0,
        left_cached_tokens: writtenIn(first),
      },
      {
        model: sonnet,
        reason: "global_default",
        cache_effect: "goes_back",
        previous_model: haiku,
        cached_tokens: writtenIn(first),
      },
    ]);
  });

  test("every turn has exactly one, right after its beginning, also where nothing changes", async () => {
    const { place } = await setUp(answers(2));
    const started = await start(place);
    const session = await started.engine.open({ id: "s" });
    await say(session, "One.");
    await say(session, "Two.");
    const events = await eventsOf(started, "s");
    const [one, two] = events.filter(({ type }) => type === "turn.started");
    const decided = events.filter(({ type }) => type === "route.decided");
    expect(decided.map(({ parentEventId }) => parentEventId)).toEqual([one?.id, two?.id]);
    expect(decided.map(({ payload }) => payload)).toMatchObject([
      { reason: "global_default" },
      { reason: "sticky" },
    ]);
  });

  test("a model for one message is for that message; what it could not be is told", async () => {
    const { place } = await setUp(answers(4));
    const { engine } = await start(place);
    const session = await engine.open();
    await say(session, "One.");
    expect(await routeOf(session, "Two.", { model: "small" })).toMatchObject({
      model: haiku,
      by: "message",
      previousModel: sonnet,
      passedOver: [],
    });
    expect(await routeOf(session, "Three.", { model: "no-such-model" })).toMatchObject({
      model: sonnet,
      by: "sticky",
      previousModel: haiku,
      passedOver: [{ name: "no-such-model", by: "message", reason: "not_configured" }],
    });
    expect(await routeOf(session, "Four.", { model: "deepseek-v4-pro" })).toMatchObject({
      model: sonnet,
      previousModel: null,
      passedOver: [{ by: "message", reason: "provider_unavailable" }],
    });
  });
});

async function routeOf(
  session: EngineSession,
  text: string,
  options: RunOptions,
): Promise<TurnPart | undefined> {
  const turn = session.run(text, options);
  let route: TurnPart | undefined;
  for await (const part of turn) if (part.type === "route") route = part;
  expect((await turn.result).end).toBe("done");
  return route;
}

function writtenIn({ usage }: CallEntry): number {
  return Object.values(usage?.cacheWriteTokens ?? {}).reduce((sum, tokens) => sum + tokens, 0);
}

describe("what each model is shown", () => {
  const thoughtful: readonly ScriptStep[] = [
    { thinking: "The parser is in one file.", text: "In parse.ts." },
    { thinking: "Nothing to add.", text: "Yes." },
    { thinking: "Asked again.", text: "Still parse.ts." },
    { text: "The end." },
  ];

  test("thoughts stay with whom they came from, and are there again when it comes back", async () => {
    const { place, bodies } = await setUp(thoughtful);
    const { engine } = await start(place);
    const session = await engine.open({ model: "claude-sonnet-5-5" });
    await say(session, "Where is the parser?");
    await say(session, "Sure?", { model: "claude-opus-5-5" });
    const third = await say(session, "Where again?");
    expect(bodies[1]).toContain("In parse.ts.");
    expect(bodies[1]).not.toContain("The parser is in one file.");
    expect(bodies[2]).toContain("The parser is in one file.");
    expect(bodies[2]).not.toContain("Nothing to add.");
    expect(third.usage?.cacheReadTokens).toBeGreaterThan(0);
    expect(third.verdict?.kind).toBe("as expected");
  });

  test("another protocol takes over with tools used before, and gives back", async () => {
    const steps: readonly ScriptStep[] = [
      { text: "Looking.", toolCalls: [{ name: "list", input: {} }] },
      { thinking: "Seen.", text: "AGENTS.md is there." },
      { text: "Looking again.", toolCalls: [{ name: "list", input: {} }] },
      { thinking: "The same.", text: "Nothing else." },
      { text: "Goodbye." },
    ];
    const { place, bodies } = await setUp(steps);
    const { engine, ledger } = await start(place);
    const session = await engine.open();
    await say(session, "What is here?");
    const asked = await say(session, "And now?", { model: gpt });
    expect(asked.model).toBe(gpt);
    const back = await say(session, "Thanks.");
    expect(back.model).toBe(sonnet);
    expect(back.verdict?.kind).toBe("as expected");
    expect(bodies[4]).toContain("Nothing else.");
    expect(bodies[4]).not.toContain("The same.");
    for await (const problem of ledger.check()) expect.fail(problem);
  });

  test("a model chosen by name stays, and is told what it costs; one that is too small is refused", async () => {
    const { place } = await setUp(answers(3));
    const { engine } = await start(place);
    const session = await engine.open();
    await say(session, "One. ".repeat(30_000));
    await expect(session.useModel("gpt-4")).rejects.toThrow(
      "that gpt-4 takes without a compaction",
    );
    const change = await session.useModel("small");
    expect(change).toMatchObject({ model: haiku, previousModel: sonnet });
    expect(change.next.cachedTokens).toBe(0);
    expect(change.next.promptTokens).toBeGreaterThan(30_000);
    expect(change.before.cachedTokens).toBeGreaterThan(30_000);
    expect((await say(session, "Two.")).model).toBe(haiku);
    expect((await say(session, "Three.")).model).toBe(haiku);
    expect(session.session.staysWith).toEqual({ model: `claude-api/${haiku}`, chosenBy: "person" });
  });
});

describe("another process goes on", () => {
  test("with the model of the last turn, its bytes and its cache; and back to the one before", async () => {
    const { place } = await setUp(answers(5));
    const one = await start(place);
    const session = await one.engine.open({ id: "s" });
    await say(session, "One.");
    await session.useModel("small");
    const second = await say(session, "Two.");
    await one.close();
    const two = await start(place);
    const resumed = await two.engine.resume("s");
    expect(resumed.session.model.id).toBe(haiku);
    expect(resumed.session.thread.end.key).toBe(session.session.thread.end.key);
    const third = await say(resumed, "Three.");
    expect(third.usage?.cacheReadTokens).toBe(writtenIn(second));
    const fourth = await say(resumed, "Four.", { model: sonnet });
    expect(fourth.usage?.cacheReadTokens).toBeGreaterThan(5_000);
    expect(fourth.verdict?.kind).toBe("as expected");
    expect((await say(resumed, "Five.")).model).toBe(haiku);
  });

  test("with a turn that was let go after it had gone to another model", async () => {
    const { place, bodies } = await setUp(answers(3));
    const one = await start(place);
    const session = await one.engine.open({ id: "s" });
    await say(session, "One.");
    const prepared = await session.prepare("Two.", { model: haiku });
    expect(prepared.toObject()).toMatchObject({ model: haiku });
    await session.release();
    await one.close();
    const two = await start(place);
    const resumed = await two.engine.resume("s");
    const { end, calls } = await resumed.resume().result;
    expect([end, calls[0]?.model]).toEqual(["done", haiku]);
    expect(bodies[1]).toContain("Two.");
    expect((await say(resumed, "Three.")).model).toBe(sonnet);
    for await (const problem of two.ledger.check()) expect.fail(problem);
  });
});

describe("what is particular to a model", () => {
  test("region and window of the name it was opened by hold for every call, also after a restart", async () => {
    const { place } = await setUp(answers(2));
    const one = await start(place);
    const session = await one.engine.open({ id: "s", model: "claude-sonnet-4-5[1m]" });
    await say(session, "One.");
    expect(session.session.model.windowTokens).toBe(1_000_000);
    await one.close();
    const two = await start(place);
    const resumed = await two.engine.resume("s");
    await say(resumed, "Two.");
    expect(resumed.session.model.windowTokens).toBe(1_000_000);
  });

  test("the same model by another route has facts, key and bytes of its own", async () => {
    const other = `
  bedrock: { kind: openai-compatible, base_url: "URL/v1", api_key: ${plantedKey} }`;
    const { place, bodies, url } = await setUp(answers(4));
    place.configure(configOf(url).trimEnd() + other.replace("URL", url));
    const { engine } = await start(place);
    const session = await engine.open();
    await say(session, "One.");
    await say(session, "Two.", { model: haiku });
    await session.useModel(`bedrock/${sonnet}`);
    const { route, protocol } = { ...session.session.model, protocol: session.session.protocol };
    expect([route, protocol.name]).toEqual(["bedrock", "openai-chat"]);
    const third = await session.run("Three.").result;
    expect(bodies[2]?.includes('"type":"function"')).toBe(true);
    expect(third.calls[0]?.usage?.cacheReadTokens ?? 0).toBe(0);
    await session.useModel(sonnet);
    expect(session.session.model.route).toBe("claude-api");
  });

  test("a model that would have to fold at once is passed over, and the cache of the other stays", async () => {
    const { place } = await setUp(answers(3));
    const { engine, ledger } = await start(place);
    const session = await engine.open({ id: "s" });
    await say(session, "One. ".repeat(80_000));
    expect(await routeOf(session, "Two.", { model: haiku })).toMatchObject({
      model: sonnet,
      passedOver: [{ name: haiku, by: "message", reason: "exceeds_context_window" }],
    });
    expect(await ledger.readCompactions("s")).toEqual([]);
  });

  test("an image said before keeps models without eyes out; a choice stays a choice, by what it meant", async () => {
    const { place, url } = await setUp(answers(4));
    const { engine } = await start(place);
    const session = await engine.open();
    await session.useModel("small");
    const source = { kind: "base64" as const, mediaType: "image/png", data: "iVBORw0KGgo=" };
    const event = { content: [{ type: "image" as const, source }], source: "human" };
    await session.run(event).result;
    expect(await routeOf(session, "And?", { model: "gpt-3.5-turbo" })).toMatchObject({
      model: haiku,
      passedOver: [{ reason: "no_vision_support" }],
    });
    place.configure(configOf(url).replace(`small: ${haiku}`, "small: claude-opus-4-6"));
    expect((await say(session, "Still you?")).model).toBe(haiku);
  });

  test("thoughts that were taken away at a fold stay away, for whoever reads the session", async () => {
    const thoughts = Array.from({ length: 14 }, (_, at) => ({
      thinking: `thought ${at}`,
      text: `Answer ${at}.`,
    }));
    const steps: readonly ScriptStep[] = [
      { when: asksForSummary, reply: createSummariser(), times: "always" },
      ...thoughts,
    ];
    const short = "context_optimization: { compaction: { enabled: true, tail_keep_tokens: 4000 } }";
    const { place } = await setUp(steps, short);
    const one = await start(place);
    const session = await one.engine.open({ id: "s" });
    const words = "Look at src/parse.ts. ".repeat(150);
    for (let turn = 1; turn <= 4; turn += 1) await say(session, `${turn} ${words}`);
    for (let turn = 5; turn <= 10; turn += 1)
      await say(session, `${turn} ${words}`, { model: gpt });
    await say(session, "Small.");
    expect((await session.compact()).kind).toBe("compacted");
    await say(session, `Again. ${words}`, { model: gpt });
    expect((await session.compact()).kind).toBe("compacted");
    const { key } = session.session.thread.end;
    await one.close();
    const two = await start(place);
    expect((await two.engine.resume("s")).session.thread.end.key).toBe(key);
  });
});

test("any course of models, folds and restarts keeps every word and every prefix", async () => {
  let folds = 0;
  for (let seed = 1; seed <= 6; seed += 1) folds += await goAnyWay(random(seed));
  expect(folds).toBeGreaterThan(5);
}, 60_000);

/** Models, tools, thoughts, compactions and restarts in any order; how many compactions there were. */
async function goAnyWay(any: (below: number) => number): Promise<number> {
  const models = ["claude-sonnet-5-5", haiku, gpt];
  const steps: ScriptStep[] = [
    { when: asksForSummary, reply: createSummariser(), times: "always" },
  ];
  const short =
    "context_optimization: { compaction: { enabled: true, compact_at_pct: 0.1, tail_keep_tokens: 1000, auto: { min_turns_between: 1 } } }";
  const { place } = await setUp(steps, short);
  let started = await start(place);
  let session = await started.engine.open({ id: "s", model: models[0] ?? sonnet });
  const said: string[] = [];
  for (let turn = 1; turn <= 12; turn += 1) {
    const word = `word-${turn}: ${"Look at src/parse.ts. ".repeat(any(300))}`;
    said.push(word);
    if (any(3) === 0) steps.push({ toolCalls: [{ name: "list", input: {} }] });
    steps.push({ ...(any(2) === 0 ? { thinking: `thought ${turn}` } : {}), text: `reply ${turn}` });
    const model = models[any(3)] ?? sonnet;
    const options = any(3) === 0 ? {} : { model };
    const { end, calls } = await (any(4) === 0
      ? letGo(session, word, options)
      : session.run(word, options).result);
    expect(end).toBe("done");
    expect(calls.map(({ verdict }) => verdict?.kind)).not.toContain("read less");
    if (any(5) === 0) await session.compact({});
    if (any(4) > 0) continue;
    const { end: before } = session.session.thread;
    await started.close();
    started = await start(place);
    session = await started.engine.resume("s");
    expect(session.session.thread.end.key).toBe(before.key);
  }
  const whole: string[] = [];
  for await (const { message } of started.ledger.readThread({ sessionId: "s" }, { whole: true })) {
    whole.push(JSON.stringify(message.content));
  }
  for (const word of said) expect(whole.filter((text) => text.includes(word))).toHaveLength(1);
  for await (const problem of started.ledger.check()) expect.fail(problem);
  return (await started.ledger.readCompactions("s", 100)).length;
}

/** Lets a turn go before its first call is sent, and takes it up again. */
async function letGo(
  session: EngineSession,
  text: string,
  options: RunOptions,
): Promise<TurnResult> {
  await session.prepare(text, options);
  await session.release();
  return session.resume().result;
}

/** Whole numbers below a limit. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}
