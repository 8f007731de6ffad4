// For tests of stored prefixes: an engine on the simulator's Gemini surface, on one virtual clock, and the provider's own bill.
import { expect, onTestFinished } from "vitest";
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
import { emptyWorld } from "../../src/engine/world/world.ts";
import {
  createEcho,
  createSimulator,
  type Simulator,
  type SimulatorOptions,
} from "../../src/simulator/index.ts";

export const minuteMs = 60_000;
export const manual: string = "Answer briefly and check what you say. ".repeat(2000);
/** It keeps nothing unless it is asked to. */
export const forgetful = { unpublishedBoundary: "nothing" } as const;

export const simulated: SimulatorOptions = { seed: 1, clock: "virtual", model: createEcho() };

export interface Asked {
  readonly method: string;
  readonly path: string;
  /** Whether it begins with a stored prefix. */
  readonly isNaming: boolean;
  /** Whether it sends the system text. */
  readonly isWhole: boolean;
}

export interface Scene {
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

export async function setUp({
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

export function isCreation({ method, path }: Asked): boolean {
  return method === "POST" && path === "/v1beta/cachedContents";
}

export function countOf(requests: readonly Asked[], method: string): number {
  return requests.filter((asked) => asked.method === method).length;
}

async function problemsOf(ledger: Ledger): Promise<readonly string[]> {
  const problems: string[] = [];
  for await (const problem of ledger.check()) problems.push(problem);
  return problems;
}

/** The session is closed, and nothing is left: not in the ledger, not at the provider, and the bill is the same. */
export async function expectNothingLeft({
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
