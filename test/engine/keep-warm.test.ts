// Goal: a waiting session is kept warm only if that was asked for, pays and fits the budget; the ledger and the events say so.
// Method: an engine and the simulator on one virtual clock, with a person who comes back every seven minutes.
import { expect, onTestFinished, test } from "vitest";
import type { StrataEvent } from "../../src/core/events/event.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../../src/core/wire/anthropic-messages/index.ts";
import { openaiChat } from "../../src/core/wire/openai/chat/index.ts";
import { openaiResponses } from "../../src/core/wire/openai/responses/index.ts";
import type { Protocol } from "../../src/core/wire/protocol.ts";
import { bodyText } from "../../src/core/wire/encoded-request.ts";
import { createEventBus } from "../../src/edge/events/event-bus.ts";
import { closeAll } from "../../src/edge/providers/test-kit.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { createEngine } from "../../src/engine/session/create-engine.ts";
import type { EngineConfig } from "../../src/engine/session/engine-config.ts";
import type { Reached } from "../../src/engine/session/engine-deps.ts";
import type { EngineSession } from "../../src/engine/session/engine-session.ts";
import { connect } from "../../src/engine/test-kit.ts";
import { emptyWorld } from "../../src/engine/world/world.ts";
import { createEcho, createSimulator } from "../../src/simulator/index.ts";
import { call as paidCall, newTurn, openSession } from "../ledger/test-kit.ts";

const minuteMs = 60_000;
const manual = "Answer briefly and check what you say. ".repeat(700);

interface Scene {
  readonly session: EngineSession;
  readonly events: readonly StrataEvent[];
  /** The body of every request, in order. */
  readonly bodies: readonly string[];
  /** Moves the clock, and lets what is due happen. */
  readonly pass: (ms: number) => Promise<void>;
  /** Turns, each with a pause after it. */
  readonly talk: (turns: number, pauseMs?: number) => Promise<void>;
  /** Holds the answers to refreshes back until the result is called. */
  readonly hold: () => () => void;
  /** The ledger takes no more calls without a turn. */
  readonly breakLedger: () => void;
  readonly engine: ReturnType<typeof createEngine>;
  readonly ledger: Awaited<ReturnType<typeof openLedger>>;
}

async function setUp(
  config: Partial<EngineConfig>,
  protocol: Protocol = anthropicMessages,
): Promise<Scene> {
  const simulator = createSimulator({ seed: 1, clock: "virtual", model: createEcho() });
  const { clock } = simulator;
  const connected = await connect(simulator, protocol);
  const bodies: string[] = [];
  let held: Promise<void> = Promise.resolve();
  const provider: Reached["provider"] = {
    send: async (call) => {
      bodies.push(bodyText(call.request.pieces));
      const sent = await connected.send(call);
      if (bodies.at(-1)?.includes('"max_tokens":0') === true) await held;
      return sent;
    },
  };
  const ledger = await openLedger(":memory:", { now: () => clock.now() });
  const recordCall = ledger.recordCall.bind(ledger);
  let isBroken = false;
  const events: StrataEvent[] = [];
  const bus = createEventBus({ onProblem: () => {}, nowUs: () => clock.now() * 1000 });
  bus.subscribe((event) => void events.push(event));
  let fired = 0;
  const engine = createEngine(
    { model: "claude-sonnet-4-6", policy: "tail-5m", options: { stream: false }, ...config },
    {
      ledger: {
        ...ledger,
        recordCall: (call, more) =>
          isBroken ? Promise.reject(new Error("the disk is full")) : recordCall(call, more),
      },
      events: bus,
      reach: () => ({ protocol, provider }),
      counter: cheapCounter,
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
          if (signal.aborted) return;
          fired += 1;
          run();
        });
        return () => controller.abort();
      },
    },
  );
  onTestFinished(async () => {
    await engine.close();
    await closeAll();
    await ledger.close();
  });
  const session = await engine.open({ id: "s" });
  /** Waits until a refresh is answered, or for a moment. */
  const settle = async (): Promise<void> => {
    const before = session.keepWarm;
    for (let round = 0; round < 20 && session.keepWarm === before; round += 1) {
      await new Promise((done) => setTimeout(done, 2));
    }
  };
  const pass = async (ms: number): Promise<void> => {
    // The timer of the last turn is set.
    await new Promise((done) => setImmediate(done));
    for (let passed = 0; passed < ms; passed += 15_000) {
      const before = fired;
      await clock.advance(15_000);
      if (fired !== before) await settle();
    }
  };
  const talk = async (turns: number, pauseMs = 7 * minuteMs): Promise<void> => {
    for (let turn = 0; turn < turns; turn += 1) {
      expect((await session.run("And now?").result).end).toBe("done");
      await pass(pauseMs);
    }
  };
  const hold = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    return resolve;
  };
  const breakLedger = (): void => void (isBroken = true);
  return { session, events, bodies, pass, talk, hold, breakLedger, engine, ledger };
}

async function lastTurn(
  { session }: EngineSession,
  ledger: Scene["ledger"],
): Promise<{ readonly calls: Awaited<ReturnType<Scene["ledger"]["readCalls"]>> }> {
  return { calls: await ledger.readCalls(session.headTurnId ?? "") };
}

/** What a talk of eight turns costs; the session's own sum must be the same. */
async function costOf(config: Partial<EngineConfig>): Promise<bigint> {
  const { talk, ledger } = await setUp(config);
  await talk(8);
  const record = await ledger.findSession("s");
  const turns: bigint[] = [];
  for await (const { id } of ledger.readTurns({ sessionId: "s" })) {
    const calls = await ledger.readCalls(id);
    turns.push(...calls.map(({ costPicoUsd }) => costPicoUsd ?? 0n));
  }
  const warm = (await ledger.readLoneCalls("s")).map(({ costPicoUsd }) => costPicoUsd ?? 0n);
  const sum = [...turns, ...warm].reduce((left, right) => left + right, 0n);
  expect(record?.costPicoUsd).toBe(sum);
  return sum;
}

test("a session whose next call comes late is refreshed in time, and the call reads everything", async () => {
  const { session, events, bodies, talk, ledger } = await setUp({ keepWarm: { usdPerHour: 1 } });
  await talk(6);
  const warm = await ledger.readLoneCalls("s");
  expect(warm.map(({ kind, status, stopReason }) => [kind, status, stopReason])).toEqual([
    ["warm", "complete", "max_tokens"],
    ["warm", "complete", "max_tokens"],
  ]);
  const told = events.filter(({ type }) => type === "cache.warmed");
  expect(told.map(({ payload, turnId }) => ({ turnId, ...payload }))).toMatchObject(
    warm.map(({ usage }) => ({
      turnId: null,
      purpose: "keep_warm",
      outcome: "refreshed",
      cached_input_tokens: usage?.cacheReadTokens,
      cache_creation_input_tokens: 0,
      warm_seconds: 300,
    })),
  );
  // Turns 4 and 5 were refreshed: the calls after them find what they sent.
  const { calls } = await lastTurn(session, ledger);
  expect(calls[0]?.usage?.cacheReadTokens).toBeGreaterThan(6000);
  expect(calls[0]?.verdict).toMatchObject({ kind: "as expected" });
  const refresh = bodies.findIndex((body) => body.includes('"max_tokens":0'));
  expect(bodies[refresh]).toBe(bodies[refresh - 1]?.replace(/"max_tokens":\d+/, '"max_tokens":0'));
});

test("under adaptive one refresh bridges a pause, and the call after it reads everything", async () => {
  const scene = await setUp({ policy: "adaptive", keepWarm: { usdPerHour: 1 } });
  const { session, talk, pass, ledger } = scene;
  // A session that has cost enough to bear a refresh, and has never paused. The long message is kept for five minutes.
  await talk(100, 15_000);
  await session.run(manual).result;
  expect(await ledger.readLoneCalls("s")).toEqual([]);
  await pass(7 * minuteMs);
  expect((await ledger.readLoneCalls("s")).length).toBe(1);
  await session.run("And now?").result;
  const { calls } = await lastTurn(session, ledger);
  expect(calls[0]?.usage?.cacheReadTokens).toBeGreaterThan(13_000);
  // The next pause is bridged once, however long it is.
  await pass(90 * minuteMs);
  expect((await ledger.readLoneCalls("s")).length).toBeLessThanOrEqual(2);
  expect(session.keepWarm.atMs).toBe(null);
});

test("its cost is part of the session's, and less than without it", async () => {
  const without = await costOf({});
  const kept = await costOf({ keepWarm: { usdPerHour: 1 } });
  expect(Number(kept) / Number(without)).toBeLessThan(0.75);
});

test("nothing is sent unless it was asked for", async () => {
  const { session, talk, bodies } = await setUp({});
  await talk(6);
  expect(bodies.length).toBe(6);
  expect(session.keepWarm).toEqual({ atMs: null, reason: "keeping sessions warm is off" });
});

test("the budget of an hour is never exceeded, not even if the provider had lost the prefix", async () => {
  // A refresh costs $0.002, and $0.025 if everything is written again.
  const { session, talk, ledger } = await setUp({ keepWarm: { usdPerHour: 0.028 } });
  await talk(12);
  const warm = await ledger.readLoneCalls("s");
  expect(warm.length).toBeGreaterThan(0);
  for (const { startMs } of warm) {
    const inHour = warm.filter(
      (each) => each.startMs > startMs - 60 * minuteMs && each.startMs <= startMs,
    );
    const spent = inHour.reduce((sum, { costPicoUsd }) => sum + (costPicoUsd ?? 0n), 0n);
    expect(spent).toBeLessThanOrEqual(28_000_000_000n);
  }
  const poor = await setUp({ keepWarm: { usdPerHour: 0.02 } });
  await poor.talk(6);
  expect(poor.bodies.length).toBe(6);
  expect(poor.session.keepWarm.reason).toMatch(
    /^a refresh may cost \$0\.02\d\d, and of \$0\.0200 for an hour \$0\.0000 is spent$/,
  );
  expect(session.keepWarm.reason).toContain("for an hour");
});

test("it stops where the person stays away, and learns the pause and not its own requests", async () => {
  const { session, talk, pass, ledger } = await setUp({ keepWarm: { usdPerHour: 1 } });
  await talk(6);
  const before = (await ledger.readLoneCalls("s")).length;
  await pass(3 * 60 * minuteMs);
  const after = await ledger.readLoneCalls("s");
  expect(after.length - before).toBeLessThan(6);
  expect(session.keepWarm.atMs).toBe(null);
  const { gaps, gapsAfterPause } = session.session.pace;
  expect(gaps.map((count, at) => count + (gapsAfterPause[at] ?? 0))).toEqual([0, 5, 0, 0, 0, 0]);
});

test("Responses are kept warm by `prewarm`, and Chat Completions have no way to", async () => {
  const model = "gpt-6.1-sol";
  const config = { model, policy: "adaptive" as const, keepWarm: { usdPerHour: 1 } };
  const { talk, bodies, ledger } = await setUp(config, openaiResponses);
  await talk(6, 40 * minuteMs);
  const warm = await ledger.readLoneCalls("s");
  expect(warm.length).toBeGreaterThan(0);
  expect(warm[0]?.usage).toMatchObject({ outputTokens: 0, cacheWriteTokens: {} });
  expect(bodies.filter((body) => body.includes('"prewarm":true')).length).toBe(warm.length);
  const chat = await setUp(config, openaiChat);
  await chat.talk(3, 40 * minuteMs);
  expect(chat.bodies.length).toBe(3);
  expect(chat.session.keepWarm.reason).toBe("Chat Completions has no way to cache without a reply");
});

test("a turn does not wait for a refresh, and a closed session sends none", async () => {
  const { session, talk, pass, hold, bodies, ledger } = await setUp({
    keepWarm: { usdPerHour: 1 },
  });
  await talk(4);
  const release = hold();
  await session.run("And now?").result;
  await pass(5 * minuteMs);
  expect(bodies.at(-1)).toContain('"max_tokens":0');
  expect((await session.run("Quick.").result).end).toBe("done");
  release();
  await pass(minuteMs);
  // It was paid, so it is recorded; what it taught is older than the turn.
  expect((await ledger.readLoneCalls("s")).length).toBe(1);
  expect(session.session.warm.since).toBe(null);
  const sent = bodies.length;
  await session.close();
  await pass(20 * minuteMs);
  expect(bodies.length).toBe(sent);
});

test("a refresh that could not be recorded leaves no trace in the ledger, and the session goes on", async () => {
  const { session, talk, ledger, events, breakLedger } = await setUp({
    keepWarm: { usdPerHour: 1 },
  });
  breakLedger();
  await talk(6);
  expect(await ledger.readLoneCalls("s")).toEqual([]);
  expect(events.filter(({ type }) => type === "cache.warmed")).toEqual([]);
  expect(session.session.warm.spentPicoUsd).toBe(0n);
  expect(session.keepWarm.reason).toBe("the last refresh failed: the disk is full");
  const problems: string[] = [];
  for await (const problem of ledger.check()) problems.push(problem);
  expect(problems).toEqual([]);
});

test("a prewarmed session reads its tools and system text with its first call", async () => {
  const { session, events, ledger } = await setUp({});
  const warmed = await session.prewarm();
  expect(warmed).toMatchObject({
    isWarm: true,
    readTokens: 0,
    untilMs: Date.UTC(2026, 10, 15, 12, 5),
  });
  const [call] = await ledger.readLoneCalls("s");
  expect(call).toMatchObject({
    kind: "warm",
    status: "complete",
    verdict: { kind: "as expected" },
  });
  expect(events.map(({ type }) => type)).toEqual(["session.created", "cache.warmed"]);
  const { calls } = await session.run("Hello.").result;
  const written = warmed.isWarm ? warmed.writtenTokens : 0;
  expect(written).toBeGreaterThan(6000);
  expect(calls[0]?.usage?.cacheReadTokens).toBe(written);
  expect(calls[0]?.verdict).toMatchObject({ kind: "as expected" });
  expect(session.session.pace.gaps).toEqual([0, 0, 0, 0, 0, 0]);
  const record = await ledger.findSession("s");
  expect(record?.costPicoUsd).toBe((call?.costPicoUsd ?? 0n) + (calls[0]?.costPicoUsd ?? 0n));
});

test("a prewarmed session in another process knows what it wrote", async () => {
  const { session, engine } = await setUp({});
  await session.prewarm({ lifetime: "1h" });
  await session.close();
  const again = await engine.resume("s");
  const { calls } = await again.run("Hello.").result;
  expect(calls[0]?.plan.expected.readTokens).toBeGreaterThan(6000);
  expect(calls[0]?.usage?.cacheReadTokens).toBe(calls[0]?.plan.expected.readTokens);
});

test("Responses are prewarmed, too, and what cannot be is said", async () => {
  const config = { model: "gpt-6.1-sol", policy: "adaptive" as const };
  const { session } = await setUp(config, openaiResponses);
  const warmed = await session.prewarm();
  expect(warmed).toMatchObject({ isWarm: true, readTokens: 0 });
  const { calls } = await session.run("Hello.").result;
  expect(calls[0]?.usage?.cacheReadTokens).toBe(warmed.isWarm ? warmed.writtenTokens : -1);
  const refused = async (more: Partial<EngineConfig>, protocol?: Protocol): Promise<string> => {
    const scene = await setUp(more, protocol);
    const value = await scene.session.prewarm();
    expect(scene.bodies).toEqual([]);
    expect(await scene.ledger.findSession("s")).toBe(null);
    return value.isWarm ? "" : value.reason;
  };
  expect(await refused(config, openaiChat)).toBe(
    "Chat Completions has no way to cache without a reply",
  );
  expect(await refused({ policy: "none" })).toBe("the policy none caches nothing");
  expect(
    await refused({ options: { thinkingJson: '{"type":"enabled","budget_tokens":2000}' } }),
  ).toBe("the provider caches only with a reply: calls have thinking with a budget");
  await expect(session.prewarm({ lifetime: "24h" })).rejects.toThrow(
    "gpt-6.1-sol keeps nothing for 24h",
  );
});

test("a refresh that might pass a spending cap is not sent, and the status and an event say why", async () => {
  const config = { keepWarm: { usdPerHour: 1 }, spending: { dayUsd: 5 } };
  const { session, events, bodies, talk, pass, ledger } = await setUp(config);
  await talk(5);
  const refreshed = (await ledger.readLoneCalls("s")).length;
  expect(refreshed).toBeGreaterThan(0);
  expect((await session.run("And now?").result).end).toBe("done");
  await openSession(ledger, "other");
  const turn = await ledger.openTurn(newTurn("other", "t", null));
  const startMs = Date.UTC(2026, 10, 15, 13);
  await turn.append(paidCall("t", 1, { costPicoUsd: 4_900_000_000_000n, startMs, endMs: startMs }));
  const sent = bodies.length;
  await pass(7 * minuteMs);
  expect(bodies.length).toBe(sent);
  expect(session.keepWarm.atMs).toBe(null);
  expect(session.keepWarm.reason).toMatch(
    /^the spending cap of the day is \$5\.0000, and \$\d\.\d{4} is spent; the next call may cost \$0\.00\d\d and was not sent: raise spending\.day_usd$/,
  );
  const told = events.filter(({ type }) => type === "spending.cap_reached");
  expect(told.map(({ payload }) => payload)).toMatchObject([{ scope: "day", cap_usd: "5" }]);
});

test("a prewarming that might pass a spending cap is not sent, and says why", async () => {
  // Writing the manual costs $0.025.
  const poor = await setUp({ spending: { sessionUsd: 0.02 } });
  expect(await poor.session.prewarm()).toEqual({
    isWarm: false,
    reason: expect.stringMatching(
      /^the spending cap of the session is \$0\.0200, and \$0\.0000 is spent; the next call may cost \$0\.02\d\d and was not sent: raise spending\.session_usd$/,
    ) as string,
    costPicoUsd: 0n,
  });
  expect(poor.bodies).toEqual([]);
  expect(poor.events.map(({ type }) => type)).toEqual(["session.created", "spending.cap_reached"]);
  const rich = await setUp({ spending: { sessionUsd: 0.03 } });
  expect(await rich.session.prewarm()).toMatchObject({ isWarm: true });
});
