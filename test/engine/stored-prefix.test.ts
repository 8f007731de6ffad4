// Goal: a prefix is stored at the provider only if that was asked for, pays and fits the budget; nothing is left behind, and the
// bill is the provider's to the pico-dollar. Method: an engine and the simulator's Gemini surface on one virtual clock.
import { expect, onTestFinished, test } from "vitest";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import type { TurnCall } from "../../src/core/turn/turn.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { toEndpoint } from "../../src/core/wire/access.ts";
import { bodyText } from "../../src/core/wire/encoded-request.ts";
import { gemini } from "../../src/core/wire/gemini/index.ts";
import { createProvider } from "../../src/edge/providers/provider.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { createEngine, type Engine } from "../../src/engine/session/create-engine.ts";
import type { EngineConfig } from "../../src/engine/session/engine-config.ts";
import type { EngineSession } from "../../src/engine/session/engine-session.ts";
import type { Reached } from "../../src/engine/session/engine-deps.ts";
import { defineTool, openEngine } from "../../src/index.ts";
import { emptyWorld } from "../../src/engine/world/world.ts";
import {
  createEcho,
  createSimulator,
  type Simulator,
  type SimulatorOptions,
} from "../../src/simulator/index.ts";

const minuteMs = 60_000;
const manual = "Answer briefly and check what you say. ".repeat(2000);
/** It keeps nothing unless it is asked to. */
const forgetful = { unpublishedBoundary: "nothing" } as const;

const simulated: SimulatorOptions = { seed: 1, clock: "virtual", model: createEcho() };

interface Asked {
  readonly method: string;
  readonly path: string;
  /** Whether it begins with a stored prefix. */
  readonly isNaming: boolean;
  /** Whether it sends the system text. */
  readonly isWhole: boolean;
}

interface Scene {
  readonly simulator: Simulator;
  readonly clock: Simulator["clock"];
  readonly requests: readonly Asked[];
  readonly ledger: Ledger;
  readonly engine: Engine;
  readonly notices: readonly string[];
  readonly session: EngineSession;
  /** Turns, each with a pause after it; gives the calls of the last one. */
  readonly talk: (turns: number, pauseMs?: number) => Promise<readonly TurnCall[]>;
  /** Moves the clock, and lets what is due happen. */
  readonly pass: (ms: number) => Promise<void>;
  /** `after` is called when a request was answered; what it throws is what the engine sees. */
  readonly before: { after: (asked: Asked) => Promise<void> };
  /** The provider's own bill for everything, storage included. */
  readonly billed: () => bigint;
  readonly url: string;
}

interface Setting {
  readonly config?: Partial<EngineConfig>;
  readonly billing?: SimulatorOptions["billing"];
  /** Nothing is said about stored prefixes. */
  readonly isOff?: boolean;
  readonly store?: string;
  readonly simulator?: Simulator;
}

async function setUp({
  config,
  billing = forgetful,
  store = ":memory:",
  ...on
}: Setting = {}): Promise<Scene> {
  const simulator = on.simulator ?? createSimulator({ ...simulated, billing });
  const { clock } = simulator;
  const server = await simulator.listen({ port: 0 });
  const apiKey = process.env["PLANTED_KEY"] ?? "";
  const endpoint = toEndpoint(gemini.access, { apiKey, baseUrl: server.url });
  const connected = createProvider({ protocol: gemini, ...endpoint, retries: { attemptsMax: 1 } });
  const requests: Asked[] = [];
  const before: Scene["before"] = { after: () => Promise.resolve() };
  const provider: Reached["provider"] = {
    send: async (call) => {
      const { method = "POST", path, pieces } = call.request;
      const body = bodyText(pieces);
      const isNaming = body.startsWith('{"cachedContent":');
      const asked = { method, path, isNaming, isWhole: body.includes("Answer briefly") };
      requests.push(asked);
      const sent = await connected.send(call);
      await before.after(asked);
      return sent;
    },
  };
  const ledger = await openLedger(store, { now: () => clock.now() });
  const notices: string[] = [];
  const engine = createEngine(
    {
      model: "gemini-3.8-flash",
      options: { stream: false },
      ...(on.isOff !== true && { storedPrefix: { usdPerHour: 5 } }),
      pace: "tool loop",
      ...config,
    },
    {
      ledger,
      reach: () => ({ protocol: gemini, provider }),
      counter: cheapCounter,
      onNotice: (notice) => void notices.push(notice),
      world: () =>
        Promise.resolve({
          ...emptyWorld,
          context: () => Promise.resolve({ parts: { system: manual } }),
        }),
      now: () => clock.now(),
      after: (ms, run) => {
        const controller = new AbortController();
        const { signal } = controller;
        void clock.wait(ms, signal).then(() => {
          if (!signal.aborted) run();
        });
        return () => controller.abort();
      },
    },
  );
  onTestFinished(async () => {
    await engine.close();
    await connected.close();
    await server.close();
    await ledger.close();
  });
  const session = await engine.session("s");
  /** Waits until what is stored has changed, or for a moment. */
  const settle = async (): Promise<void> => {
    const { reason, expiresMs } = session.storedPrefix;
    for (let round = 0; round < 15; round += 1) {
      const now = session.storedPrefix;
      if (now.reason !== reason || now.expiresMs !== expiresMs) break;
      await new Promise((done) => setTimeout(done, 2));
    }
    await new Promise((done) => setTimeout(done, 10));
  };
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += minuteMs) {
      await clock.advance(Math.min(minuteMs, ms - passed));
      await settle();
    }
  };
  const talk: Scene["talk"] = async (turns, pauseMs = 10_000) => {
    let calls: readonly TurnCall[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      const run = await session.run("And now?").result;
      expect(run.end).toBe("done");
      ({ calls } = run);
      await settle();
      await pass(pauseMs);
    }
    return calls;
  };
  const billed = (): bigint => {
    const calls = simulator.calls().map(({ billed: bill }) => toPico(bill?.costUsd));
    const stored = simulator.billing.stored
      .views(clock.now())
      .map(({ costUsd }) => toPico(costUsd));
    return [...calls, ...stored].reduce((sum, each) => sum + each, 0n);
  };
  return {
    simulator,
    clock,
    requests,
    ledger,
    engine,
    notices,
    session,
    talk,
    pass,
    before,
    billed,
    url: server.url,
  };
}

/** Dollars as text, exactly. */
function toPico(usd: string | null | undefined): bigint {
  const [whole = "0", part = ""] = (usd ?? "$0").replace("$", "").split(".");
  return BigInt(`${whole}${part.padEnd(12, "0")}`);
}

function isCreation({ method, path }: Asked): boolean {
  return method === "POST" && path === "/v1beta/cachedContents";
}

function countOf(requests: readonly Asked[], method: string): number {
  return requests.filter((asked) => asked.method === method).length;
}

async function problemsOf(ledger: Ledger): Promise<readonly string[]> {
  const problems: string[] = [];
  for await (const problem of ledger.check()) problems.push(problem);
  return problems;
}

/** The session is closed, and nothing is left: not in the ledger, not at the provider, and the bill is the same. */
async function expectNothingLeft({
  session,
  ledger,
  simulator,
  clock,
  billed,
}: Scene): Promise<void> {
  await session.close();
  expect(await ledger.listResources()).toEqual([]);
  const live = simulator.billing.stored.views(clock.now()).filter(({ state }) => state === "live");
  expect(live).toEqual([]);
  expect((await ledger.findSession("s"))?.costPicoUsd).toBe(billed());
  expect(await problemsOf(ledger)).toEqual([]);
}

test("where the provider keeps nothing by itself, the prompt is stored after a turn, and calls read it as planned", async () => {
  const scene = await setUp();
  const { talk, requests, session, ledger } = scene;
  await talk(2);
  expect(session.storedPrefix.reason).toBe("what the provider keeps by itself is not known yet");
  const [third] = await talk(1);
  expect(third?.plan.stored).toBeUndefined();
  const { tokens } = session.storedPrefix;
  expect(tokens).toBe(19_649);
  const [next] = await talk(1);
  expect(next?.plan).toMatchObject({
    stored: { blocks: 10, tokens },
    expected: { readTokens: tokens },
  });
  expect(next?.usage).toMatchObject({ cacheReadTokens: tokens, uncachedTokens: 43 });
  expect(next?.verdict).toMatchObject({ kind: "as expected" });
  expect(next?.miss).toBeNull();
  // Behind what is stored only the new words are sent: no tools, no system text.
  expect(requests.filter(({ isNaming }) => isNaming).map(({ isWhole }) => isWhole)).toEqual([
    false,
  ]);
  expect(requests.filter(isCreation)).toHaveLength(1);
  expect(await ledger.listResources()).toMatchObject([{ state: "live", tokens, sessionId: "s" }]);
  await talk(2);
  await expectNothingLeft(scene);
  expect(countOf(requests, "DELETE")).toBe(1);
});

test("it costs less than the same talk without it, which stores nothing", async () => {
  const stored = await setUp();
  await stored.talk(12);
  await expectNothingLeft(stored);
  const plain = await setUp({ isOff: true });
  await plain.talk(12);
  expect(plain.session.storedPrefix.reason).toBe("storing prefixes is off");
  await expectNothingLeft(plain);
  expect(plain.requests.filter(isCreation)).toEqual([]);
  expect(Number(stored.billed()) / Number(plain.billed())).toBeLessThan(0.5);
});

test("what the provider keeps by itself is not paid for, and a budget that is too small stores nothing", async () => {
  const kept = await setUp({ billing: {} });
  await kept.talk(8);
  expect(kept.requests.filter(isCreation)).toEqual([]);
  expect(kept.session.storedPrefix.reason).toBe(
    "making and keeping it would cost more than it is expected to save",
  );
  const poor = await setUp({ config: { storedPrefix: { usdPerHour: 0.01 } } });
  await poor.talk(4);
  expect(poor.requests.filter(isCreation)).toEqual([]);
  expect(poor.session.storedPrefix.reason).toMatch(
    /^storing may cost \$0\.0\d{3}, and of \$0\.0100 for an hour \$0\.0000 is spent$/,
  );
  const capped = await setUp({
    config: {
      spending: { sessionUsd: 0.055 },
      options: { stream: false, outputTokensMax: 100 },
    },
  });
  await capped.talk(3);
  expect(capped.requests.filter(isCreation)).toEqual([]);
  expect(capped.session.storedPrefix.reason).toContain(
    "the spending cap of the session is $0.0550",
  );
});

test("it is kept on while that pays, and gone soon after the agent fell silent", async () => {
  const scene = await setUp();
  const { talk, pass, requests, session, ledger } = scene;
  await talk(3);
  await talk(3, 4 * minuteMs);
  expect(countOf(requests, "PATCH")).toBeGreaterThan(0);
  expect((await ledger.listResources())[0]?.expiresMs).toBe(session.storedPrefix.expiresMs);
  await pass(100 * minuteMs);
  expect(await ledger.listResources()).toEqual([]);
  expect(session.storedPrefix.tokens).toBeNull();
  const [resource] = await ledger.listResources({ withGone: true });
  const sentMs = scene.simulator.calls().filter(({ path }) => path.endsWith(":generateContent"));
  // An agent in a loop comes back at once or not at all.
  expect((resource?.endedMs ?? 0) - (sentMs.at(-1)?.startMs ?? 0)).toBeLessThan(120 * minuteMs);
  await expectNothingLeft(scene);
});

test("another model ends it at once", async () => {
  const scene = await setUp();
  const { talk, session, requests, ledger } = scene;
  await talk(4);
  await session.useModel("gemini-3.1-pro-preview");
  const [call] = await talk(1);
  expect(call?.plan.stored).toBeUndefined();
  expect(countOf(requests, "DELETE")).toBe(1);
  expect(await ledger.listResources({ withGone: true })).toMatchObject([{ state: "gone" }]);
  await expectNothingLeft(scene);
});

test("a session that is archived keeps nothing for longer than ten minutes", async () => {
  const scene = await setUp();
  const { talk, pass, ledger, session } = scene;
  await talk(3);
  await ledger.setStatus("s", "archived");
  await pass(10 * minuteMs);
  expect(session.storedPrefix).toMatchObject({
    tokens: null,
    reason: "the session was archived or deleted",
  });
  await expectNothingLeft(scene);
});

test("calls of a turn with tools begin with what is stored, through the whole door", async () => {
  const engine = await openEngine({
    model: "gemini-3.8-flash",
    system: manual,
    simulate: { billing: forgetful },
    storedPrefix: { usdPerHour: 5 },
    pace: "tool loop",
    counter: cheapCounter,
    tools: [
      defineTool({
        name: "list_files",
        description: "Lists the files of a folder.",
        input: { path: "string?" },
        run: () => "a.ts\nb.ts",
      }),
    ],
  });
  onTestFinished(() => engine.close());
  const session = await engine.open({ id: "s" });
  const planned: (number | undefined)[][] = [];
  for (let turn = 0; turn < 3; turn += 1) {
    const { calls, end } = await session.run("Look at the files.").result;
    expect(end).toBe("done");
    planned.push(calls.map(({ plan }) => plan.stored?.tokens));
    expect(calls.map(({ failure, miss }) => failure ?? miss)).toEqual(calls.map(() => null));
    while (turn === 0 && session.storedPrefix.tokens === null) {
      await new Promise((done) => setTimeout(done, 5));
    }
  }
  expect(planned[0]?.length).toBeGreaterThan(1);
  expect(planned[0]?.every((tokens) => tokens === undefined)).toBe(true);
  expect(planned[1]?.length).toBeGreaterThan(1);
  expect(
    planned
      .slice(1)
      .flat()
      .every((tokens) => (tokens ?? 0) > 19_000),
  ).toBe(true);
  await session.close();
  expect(await engine.ledger.listResources()).toEqual([]);
});

test("a prefix that is gone costs one refused call: the turn goes on with the whole prompt, and the miss has its cause", async () => {
  const scene = await setUp();
  const { talk, session, simulator, url, notices } = scene;
  await talk(4);
  const [resource] = await scene.ledger.listResources();
  const name = resource?.name ?? "";
  const headers = { "x-goog-api-key": process.env["PLANTED_KEY"] ?? "" };
  await simulator.fetch(`${url}/v1beta/${name}`, { method: "DELETE", headers });
  const { calls, end } = await session.run("And now?").result;
  expect(end).toBe("done");
  expect(calls.map(({ failure, plan }) => [failure?.kind, plan.stored?.name])).toEqual([
    ["permission", name],
    [undefined, undefined],
  ]);
  expect(calls[1]?.miss).toMatchObject({
    cause: "stored prefix gone",
    expected_read_tokens: 19_649,
    reported_read_tokens: 0,
    lost_tokens: 19_649,
    lost_cost_usd: "0.013263075",
  });
  expect(notices).toContain(
    "a stored prefix was gone, and the call was sent whole: CachedContent not found (or permission denied)",
  );
  await expectNothingLeft(scene);
});

test("an answer that is lost leaves nothing: it is found by its label, and deleted with its session", async () => {
  const scene = await setUp();
  const { talk, before, requests, session, simulator, clock } = scene;
  let isLost = true;
  before.after = async (asked) => {
    if (isCreation(asked) && isLost) throw new Error("the connection broke");
  };
  await talk(3);
  isLost = false;
  expect(session.storedPrefix.tokens).toBeNull();
  expect(simulator.billing.stored.views(clock.now())).toMatchObject([{ state: "live" }]);
  await talk(1);
  expect(countOf(requests, "GET")).toBeGreaterThan(0);
  expect(simulator.billing.stored.views(clock.now())).toMatchObject([{ state: "removed" }]);
  await expectNothingLeft(scene);
});

test.each(["before it is sent", "after its answer"])(
  "a process that is killed at a creation, %s, leaves a row from which the next start ends it",
  async (moment) => {
    const folder = mkdtempSync(join(tmpdir(), "strata-stored-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const store = join(folder, "ledger.sqlite");
    const simulator = createSimulator({ ...simulated, billing: forgetful });
    const server = await simulator.listen({ port: 0 });
    const child = spawn(process.execPath, [
      join(import.meta.dirname, "stored-prefix.child.ts"),
      server.url,
      store,
      moment,
      String(simulator.clock.now()),
    ]);
    const [, signal] = (await once(child, "exit")) as [number | null, string | null];
    expect(signal).toBe("SIGKILL");
    const isMade = moment === "after its answer";
    expect(simulator.billing.stored.views(simulator.clock.now())).toHaveLength(isMade ? 1 : 0);
    await simulator.clock.advance(3 * minuteMs);
    const scene = await setUp({
      store,
      simulator,
      config: { storedPrefix: { usdPerHour: 0.000001 } },
    });
    expect(await scene.ledger.listResources()).toMatchObject([
      { state: "creating", name: null, isLeft: true },
    ]);
    await scene.talk(1);
    expect(await scene.ledger.listResources()).toEqual([]);
    await expectNothingLeft(scene);
    await server.close();
  },
);
