// Goal: a provider that fails for good costs nobody a turn. Method: turns through strata.yaml on two simulators in two
// protocols, one of which fails; what each received, the ledger, the events and the same session read again.
import { describe, expect, onTestFinished, test } from "vitest";
import type { OpenTurn } from "../../src/core/ledger/ledger.ts";
import type { TurnPart } from "../../src/engine/turn/turn-handle.ts";
import type { EngineSession } from "../../src/engine/session/engine-session.ts";
import { cheapCounter, openEngine, openLedger } from "../../src/index.ts";
import { createScripted, type FaultSpec, type ScriptStep } from "../../src/simulator/index.ts";
import {
  eventsOf,
  makePlace,
  plantedKey,
  serve,
  start,
  type Place,
  type Served,
} from "./test-kit.ts";

const sonnet = "claude-sonnet-5-5";
const gpt = "gpt-6.1-sol";

interface Scene {
  readonly place: Place;
  readonly first: Served;
  readonly second: Served;
  readonly bodies: { readonly first: string[]; readonly second: string[] };
}

/** `first` answers for Claude, `second` for GPT. */
async function setUp(
  steps: { readonly first?: readonly ScriptStep[]; readonly second?: readonly ScriptStep[] } = {},
  more: { readonly routing?: string; readonly models?: string; readonly attempts?: number } = {},
): Promise<Scene> {
  const place = makePlace();
  const bodies = { first: [] as string[], second: [] as string[] };
  const first = await serve(
    { model: createScripted(steps.first ?? answers("Claude")) },
    (_, body) => void bodies.first.push(body),
  );
  const second = await serve(
    { model: createScripted(steps.second ?? answers("GPT")) },
    (_, body) => void bodies.second.push(body),
  );
  place.put("AGENTS.md", "Be brief. ".repeat(400));
  place.configure(`
models: { default: ${sonnet}, aliases: { other: ${gpt} }, ${more.models ?? ""} }
routing: { ${more.routing ?? "fallback: [other]"} }
providers:
  anthropic: { base_url: "${first.url}", api_key: ${plantedKey}, retries: { attempts_max: ${more.attempts ?? 1}, backoff_ms_base: 1 } }
  openai: { base_url: "${second.url}/v1", api_key: ${plantedKey}, retries: { attempts_max: 1 } }
`);
  return { place, first, second, bodies };
}

const answers = (who: string): readonly ScriptStep[] =>
  Array.from({ length: 6 }, (_, at) => ({ text: `${who} ${at + 1}.` }));

async function partsOf(session: EngineSession, text: string): Promise<readonly TurnPart[]> {
  const parts: TurnPart[] = [];
  for await (const part of session.run(text)) parts.push(part);
  return parts;
}

const routeIn = (parts: readonly TurnPart[]): TurnPart | undefined =>
  parts.find(({ type }) => type === "route");

const routeOf = async (session: EngineSession, text: string): Promise<TurnPart | undefined> =>
  routeIn(await partsOf(session, text));

const ask = async (routing: string): Promise<readonly TurnPart[]> => {
  const { place } = await setUp({}, { routing });
  const { engine } = await start(place);
  return partsOf(await engine.open(), "Which port?");
};

describe("a provider that fails for good (D-13)", () => {
  const down: readonly FaultSpec[] = [{ kind: "overloaded", count: 2 }];

  test("is followed by the next model of the list, in the same turn", async () => {
    const { place, first, bodies } = await setUp({}, { attempts: 2 });
    const started = await start(place);
    const session = await started.engine.open({ id: "s" });
    await session.run("Which port?").result;
    first.simulator.fault(...down);
    const parts = await partsOf(session, "And the host?");
    const { end, calls, error } = await endOf(parts);
    expect([end, error]).toEqual(["done", null]);
    expect(calls.map(({ model, status, failure }) => [model, status, failure?.kind])).toEqual([
      [sonnet, "failed", "overloaded"],
      [gpt, "complete", undefined],
    ]);
    // Both attempts of the first provider were made; the other one was told everything.
    expect([bodies.first.length, bodies.second.length]).toEqual([3, 1]);
    expect(bodies.second[0]).toContain("Claude 1.");
    expect(bodies.second[0]?.match(/And the host\?/g)).toHaveLength(1);
    const routes = parts.filter((part) => part.type === "route");
    expect(routes).toMatchObject([
      { model: sonnet, by: "sticky", passedOver: [] },
      {
        model: gpt,
        by: "fallback",
        previousModel: sonnet,
        passedOver: [{ name: `claude-api/${sonnet}`, reason: "provider_failed" }],
      },
    ]);
    const turnId = session.session.headTurnId ?? "";
    expect(await started.ledger.findTurn(turnId)).toMatchObject({
      model: gpt,
      provider: "openai",
      switches: [
        { through: 1, model: sonnet, provider: "anthropic", name: `claude-api/${sonnet}` },
      ],
    });
    expect((await started.ledger.readCalls(turnId)).map(({ model }) => model)).toEqual([
      sonnet,
      gpt,
    ]);
    for await (const problem of started.ledger.check()) expect.fail(problem);
  });

  test("is told again as the route, with what that does to the cache", async () => {
    const { place, first } = await setUp();
    const started = await start(place);
    const session = await started.engine.open({ id: "s" });
    const [one] = (await session.run("Which port?").result).calls;
    first.simulator.fault(...down);
    await session.run("And the host?").result;
    const decided = (await eventsOf(started, "s")).filter(({ type }) => type === "route.decided");
    const kept = Object.values(one?.usage?.cacheWriteTokens ?? {}).reduce((sum, n) => sum + n, 0);
    expect(kept).toBeGreaterThan(0);
    expect(decided.map(({ payload }) => payload)).toMatchObject([
      { model: sonnet, reason: "global_default" },
      { model: sonnet, reason: "sticky" },
      {
        model: gpt,
        provider: "openai",
        reason: "fallback",
        passed_over: [`claude-api/${sonnet}: provider_failed`],
        previous_model: sonnet,
        cache_effect: "starts_cold",
        cached_tokens: 0,
        left_cached_tokens: kept,
      },
    ]);
  });

  test("is followed in the middle of a turn, after tools ran; no thoughts are told on", async () => {
    const { place, first, bodies } = await setUp({
      first: [
        {
          thinking: "A list may help.",
          text: "I look.",
          toolCalls: [{ name: "read", input: { path: "AGENTS.md" } }],
        },
      ],
    });
    const { engine } = await start(place);
    const session = await engine.open({ id: "s" });
    const turn = session.run("What is here?");
    for await (const part of turn) {
      if (part.type === "tool" && part.status === "running") first.simulator.fault(...down);
    }
    const { end, calls, toolCalls } = await turn.result;
    expect([end, calls.map(({ model }) => model)]).toEqual(["done", [sonnet, sonnet, gpt]]);
    expect(toolCalls.map(({ status }) => status)).toEqual(["succeeded"]);
    expect(bodies.second[0]).toContain("Be brief. Be brief.");
    expect(bodies.second[0]).not.toContain("A list may help.");
  });

  test("is not followed by a model whose window is too small: each has a budget of its own (X-15)", async () => {
    const { place, first } = await setUp(
      {},
      {
        routing: "fallback: [claude-haiku-4-5, other]",
        models: "override: { claude-haiku-4-5: { window: 9000, maxOutput: 1000 } }",
      },
    );
    const { engine } = await start(place);
    const session = await engine.open({ id: "s" });
    await session.run("word ".repeat(9_000)).result;
    first.simulator.fault(...down);
    const parts = await partsOf(session, "And the host?");
    expect(parts.findLast(({ type }) => type === "route")).toMatchObject({
      model: gpt,
      passedOver: [
        { reason: "provider_failed" },
        { name: "claude-haiku-4-5", reason: "exceeds_context_window" },
      ],
    });
    expect(session.session.model.windowTokens).toBeGreaterThan(9_000);
  });

  test("ends the turn where no model is left, and says why", async () => {
    const { place, first, second } = await setUp();
    const { engine, ledger } = await start(place);
    const session = await engine.open({ id: "s" });
    first.simulator.fault(...down);
    second.simulator.fault({ kind: "server error" });
    const { end, calls, error } = await session.run("Which port?").result;
    expect([end, calls.map(({ model }) => model)]).toEqual(["failed", [sonnet, gpt]]);
    expect(error).toMatchObject({ kind: "model_error", isRetryable: true });
    for await (const problem of ledger.check()) expect.fail(problem);
    expect((await session.run("Again?").result).end).toBe("done");
  });

  test("is not left for a prompt that is too long", async () => {
    const { place, first } = await setUp();
    const { engine } = await start(place);
    const session = await engine.open();
    first.simulator.fault({ kind: "overflow", count: 2, tokens: 300_000, tokensMax: 200_000 });
    const { end, calls } = await session.run("Which port?").result;
    expect(end).toBe("failed");
    expect(new Set(calls.map(({ model }) => model))).toEqual(new Set([sonnet]));
  });
});

describe("after a turn that fell back", () => {
  test("the model that failed rests, and the turns stay where the cache is warm", async () => {
    const { place, first } = await setUp();
    const { engine } = await start(place);
    const session = await engine.open({ id: "s" });
    await session.run("One.").result;
    first.simulator.fault({ kind: "overloaded" });
    await session.run("Two.").result;
    expect(await routeOf(session, "Three.")).toMatchObject({
      model: gpt,
      by: "fallback",
      previousModel: null,
      passedOver: [
        { by: "sticky", reason: "recently_failed" },
        { by: "global_default", reason: "recently_failed" },
      ],
    });
    // A person's choice is asked at once.
    await session.useModel(sonnet);
    expect(await routeOf(session, "Four.")).toMatchObject({ model: sonnet, by: "sticky" });
  });

  test("when it has rested, it is asked again and reads what it kept", async () => {
    const { place, first } = await setUp(
      {},
      { routing: "fallback: [other], fallback_rest_seconds: 0" },
    );
    const { engine } = await start(place);
    const session = await engine.open({ id: "s" });
    await session.run("One.").result;
    first.simulator.fault({ kind: "overloaded" });
    await session.run("Two.").result;
    const [call] = (await session.run("Three.").result).calls;
    expect(call?.model).toBe(sonnet);
    expect(call?.usage?.cacheReadTokens).toBeGreaterThan(0);
    expect(call?.verdict?.kind).toBe("as expected");
  });

  test("a process that reads the session again goes the same way", async () => {
    const { place, first, bodies } = await setUp();
    const one = await start(place);
    const session = await one.engine.open({ id: "s" });
    await session.run("One.").result;
    first.simulator.fault({ kind: "overloaded" });
    await session.run("Two.").result;
    await one.close();
    const two = await start(place);
    const again = await two.engine.resume("s");
    const { calls } = await again.run("Three.").result;
    expect(calls.map(({ model }) => model)).toEqual([gpt]);
    expect(bodies.second[1]?.startsWith(bodies.second[0]?.slice(0, 2_000) ?? "none")).toBe(true);
  });
});

test("a turn whose process fails after it left its model goes on with the next one", async () => {
  const { first, second, bodies } = await setUp();
  const ledger = await openLedger(":memory:");
  onTestFinished(() => ledger.close());
  let isBroken = true;
  const fails = (lease: OpenTurn): OpenTurn => ({
    ...lease,
    append: (entry, more) =>
      isBroken && entry.model === gpt
        ? Promise.reject(new Error("the disk is full"))
        : lease.append(entry, more),
  });
  const engine = await openEngine({
    model: sonnet,
    counter: cheapCounter,
    routing: { fallback: [gpt] },
    store: { ...ledger, openTurn: async (turn) => fails(await ledger.openTurn(turn)) },
    env: {
      ANTHROPIC_API_KEY: plantedKey,
      ANTHROPIC_BASE_URL: first.url,
      OPENAI_API_KEY: plantedKey,
      OPENAI_BASE_URL: `${second.url}/v1`,
    },
  });
  onTestFinished(() => engine.close());
  first.simulator.fault({ kind: "rate limited", retryAfterSeconds: 3_600 });
  await expect((await engine.session("s")).run("Which port?").result).rejects.toMatchObject({
    message: expect.stringContaining("the disk is full") as string,
  });
  isBroken = false;
  const parts = await partsOf(await engine.session("s"), "And the host?");
  const runs = parts.flatMap((part) => (part.type === "ended" ? [part.run] : []));
  expect(runs.map(({ end, calls }) => [end, calls.map(({ model }) => model)])).toEqual([
    ["done", [sonnet, gpt]],
    ["done", [gpt]],
  ]);
  const [one, two] = bodies.second.map((body) => body.replace(/Current time: \S+Z/, "now"));
  expect(one).toBe(two);
  for await (const problem of ledger.check()) expect.fail(problem);
});

test("in a loop of one's own nothing is asked of another model: the turn ends", async () => {
  const { place } = await setUp();
  const { engine } = await start(place);
  const session = await engine.open({ id: "s" });
  const call = await session.prepare("Which port?");
  const failure = Object.assign(new Error("Overloaded"), { status: 529 });
  const { run } = await session.record(call, Promise.reject(failure));
  expect([run?.end, run?.calls.map(({ model }) => model)]).toEqual(["failed", [sonnet]]);
  expect((await session.prepare("And the host?")).number).toBe(1);
  expect(session.session.model.id).toBe(sonnet);
});

describe("routing.prompt_caching", () => {
  const cacheless = "gpt-3.5-turbo";
  const first = `workspace_default: ${cacheless}`;

  test("preferred: a model without a cache is taken last", async () => {
    expect(routeIn(await ask(first))).toMatchObject({ model: cacheless });
    expect(routeIn(await ask(`${first}, prompt_caching: preferred`))).toMatchObject({
      model: cacheless,
      by: "workspace_default",
    });
    const fallback = `${first}, prompt_caching: preferred, fallback: [${sonnet}]`;
    expect(routeIn(await ask(fallback))).toMatchObject({
      model: sonnet,
      by: "fallback",
      passedOver: [
        { name: cacheless, by: "workspace_default", reason: "no_prompt_caching_support" },
        { name: cacheless, by: "global_default", reason: "no_prompt_caching_support" },
      ],
    });
  });

  test("required: it is never taken, and the error says why", async () => {
    const parts = await ask(`${first}, prompt_caching: required`);
    expect(parts.at(-1)).toMatchObject({
      type: "failed",
      error: {
        code: "environment-unfit",
        message: expect.stringContaining("no_prompt_caching_support") as string,
      },
    });
  });
});

async function endOf(
  parts: readonly TurnPart[],
): Promise<Extract<TurnPart, { type: "ended" }>["run"]> {
  const last = parts.at(-1);
  if (last?.type !== "ended") throw new Error("the turn did not end");
  return last.run;
}
