// Goal: a session stays usable whatever its edges do, does one thing at a time, and what is said to it is never lost.
// Method: an engine on a ledger in memory, with a provider that answers as each test says.
import { expect, onTestFinished, test } from "vitest";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import type { Message } from "../../src/core/message/message.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../../src/core/wire/anthropic-messages/index.ts";
import { openaiChat } from "../../src/core/wire/openai/chat/index.ts";
import { openaiResponses } from "../../src/core/wire/openai/responses/index.ts";
import type { Protocol } from "../../src/core/wire/protocol.ts";
import type { CallToSend } from "../../src/edge/providers/run-attempts.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import type { EngineDeps, Reached } from "../../src/engine/session/engine-deps.ts";
import { createEngine, type Engine } from "../../src/engine/session/create-engine.ts";
import { createEventBus } from "../../src/edge/events/event-bus.ts";
import { routingVersionOf, type EngineConfig } from "../../src/engine/session/engine-config.ts";

type Answer = (call: CallToSend, number: number) => string | Promise<string>;

interface Scene {
  readonly engine: Engine;
  readonly ledger: Ledger;
  /** How many were made so far. */
  readonly requestCount: () => number;
}

interface SceneOptions {
  readonly config?: Partial<EngineConfig>;
  readonly deps?: Partial<EngineDeps>;
  readonly ledger?: Ledger;
}

async function setUp(answer: Answer, options: SceneOptions = {}): Promise<Scene> {
  const ledger = options.ledger ?? (await openLedger(":memory:"));
  let requests = 0;
  const send: Reached["provider"]["send"] = async (call) => {
    requests += 1;
    const text = await answer(call, requests);
    const outcome = anthropicMessages.decode(replyOf(text));
    return { ...nothingKnown, outcome };
  };
  const engine = createEngine(
    { model: "claude-sonnet-4-6", options: { stream: false }, ...options.config },
    {
      ledger,
      reach: () => ({ protocol: anthropicMessages, provider: { send } }),
      counter: cheapCounter,
      ...options.deps,
    },
  );
  onTestFinished(() => engine.close());
  return { engine, ledger, requestCount: () => requests };
}

const nothingKnown = {
  attempts: [],
  startMs: 0,
  endMs: 0,
  firstByteMs: null,
  status: 200,
  requestId: null,
  headers: {},
};

function replyOf(text: string): string {
  return JSON.stringify({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-6",
    content: [{ type: "text", text }],
    stop_reason: "end_turn",
    usage: { input_tokens: 10, output_tokens: 5 },
  });
}

test("a session whose first turn threw is resumed, and goes on", async () => {
  const { engine } = await setUp((_, number) => {
    if (number === 1) throw new Error("the edge broke");
    return "ok";
  });
  const session = await engine.open({ id: "s" });
  const broken = session.run("One.");
  await expect(broken.result).rejects.toThrow("the edge broke");
  await expect(session.run("Two.").result).rejects.toThrow("was interrupted");
  const resumed = session.resume();
  const parts = [];
  for await (const part of resumed) parts.push(part);
  expect((await resumed.result).end).toBe("done");
  expect(resumed.turnId).toBe(broken.turnId);
  expect(parts[0]).toEqual({ type: "started", turnId: broken.turnId });
  expect((await session.run("Three.").result).end).toBe("done");
});

test("what was said while the agent worked is answered after a release, too", async () => {
  const { engine } = await setUp(() => "unused");
  const session = await engine.open({ id: "s" });
  const call = await session.prepare("Hello.");
  await session.record(call, replyOf("Hi."), { steer: "And look at the tests." });
  await session.release();
  const step = await session.prepareUnfinished();
  expect(step.run).toBeNull();
  const next = await session.prepare([]);
  expect(JSON.stringify(next.toObject())).toContain("And look at the tests.");
  await session.record(next, replyOf("Done."));
  const { thread } = session.session;
  expect(thread.messages.length).toBe(4);
  const again = await engine.resume("s");
  expect(again.session.thread.end.key).toBe(thread.end.key);
});

test("words that come too late for a call are in the run, blank ones nowhere", async () => {
  const { engine, requestCount } = await setUp(() => "ok", { config: { callsMax: 1 } });
  const session = await engine.open();
  const turn = session.run("One.");
  expect(turn.steer("  ")).toBe(false);
  expect(turn.steer("Wait.")).toBe(true);
  const run = await turn.result;
  expect([run.end, requestCount()]).toEqual(["done", 1]);
  expect(run.unsaid).toEqual([{ role: "user", content: [{ type: "text", text: "Wait." }] }]);
  expect(turn.steer("Hello?")).toBe(false);
});

test("while it compacts or runs, nothing else begins; closing waits for it", async () => {
  const summary = Promise.withResolvers<string>();
  const { engine } = await setUp((_, number) => (number === 3 ? summary.promise : "Words."));
  const session = await engine.open();
  await session.run("One. ".repeat(4_000)).result;
  await session.run("Two. ".repeat(4_000)).result;
  const compactionState = session.compact();
  const waiting = session.run("Three.");
  await expect(session.useModel("claude-opus-5-5")).rejects.toThrow("is being changed");
  await expect(session.compact()).rejects.toThrow("is being changed");
  let isClosed = false;
  const closing = session.close().then(() => (isClosed = true));
  const again = session.close().then(() => isClosed);
  summary.resolve("Nothing but words was said.");
  await closing;
  expect(await again).toBe(true);
  expect((await compactionState).kind).toBe("unchanged");
  await expect(waiting.result).rejects.toThrow("was closed before the message had its turn");
  expect(() => session.run("Four.")).toThrow("is closed");
});

test("an engine forgets sessions that are closed, and takes none once it is closed itself", async () => {
  const closed: string[] = [];
  const world = (owner: { readonly sessionId: string }) =>
    Promise.resolve({
      context: () => Promise.resolve({ parts: {} }),
      close: () => {
        closed.push(owner.sessionId);
        return owner.sessionId === "b"
          ? Promise.reject(new Error("b is stuck"))
          : Promise.resolve();
      },
    });
  const { engine } = await setUp(() => "ok", { deps: { world } });
  const one = await engine.open({ id: "a" });
  await one.close();
  await one.close();
  await engine.open({ id: "b" });
  await engine.open({ id: "c" });
  await expect(engine.close()).rejects.toThrow("b is stuck");
  expect(closed).toEqual(["a", "b", "c"]);
  await expect(engine.open()).rejects.toThrow("the engine is closed");
  await expect(engine.resume("a")).rejects.toThrow("the engine is closed");
  await engine.close();
});

test("a world is closed where no session comes of it", async () => {
  let closes = 0;
  const world = () =>
    Promise.resolve({
      context: () => Promise.reject(new Error("no documents")),
      close: () => {
        closes += 1;
        return Promise.resolve();
      },
    });
  const { engine } = await setUp(() => "ok", { deps: { world } });
  await expect(engine.open()).rejects.toThrow("no documents");
  expect(closes).toBe(1);
});

test("a session goes on as it is laid out and spoken to, whatever is configured by now", async () => {
  const { engine, ledger } = await setUp(() => "ok", { config: { policy: "metis" } });
  const session = await engine.open({ id: "s" });
  await session.run("One.").result;
  const other = await setUp(() => "ok", { ledger, config: { policy: "nexus" } });
  const resumed = await other.engine.resume("s");
  expect(resumed.session.policy.layout).toEqual(session.session.policy.layout);
  expect(resumed.session.thread.end.key).toBe(session.session.thread.end.key);
  const forked = await other.engine.fork({ sessionId: "s" });
  expect(forked.session.policy.layout).toEqual(session.session.policy.layout);
});

const reachBy = (protocol: Protocol): Partial<EngineDeps> => ({
  reach: () => ({ protocol, provider: { send: () => Promise.reject(new Error("not asked")) } }),
});

test("a session of another protocol is refused, not sent in the wrong words", async () => {
  const config = { model: "gpt-5.5" };
  const { engine, ledger } = await setUp(() => "ok", { config, deps: reachBy(openaiResponses) });
  const session = await engine.open({ id: "s" });
  await session.prepare("One.");
  await session.release();
  const chat = await setUp(() => "ok", { ledger, config, deps: reachBy(openaiChat) });
  await expect(chat.engine.resume("s")).rejects.toThrow(
    "session s was recorded with the protocol openai-responses for gpt-5.5, and its provider now uses openai-chat",
  );
});

test("messages that no provider would take are refused before anything is opened", async () => {
  const { engine } = await setUp(() => "ok");
  const use: Message = {
    role: "assistant",
    content: [{ type: "tool_use", id: "u1", name: "look", inputJson: "{}" }],
  };
  const asked: Message = { role: "user", content: [{ type: "text", text: "Look." }] };
  await expect(engine.open({ messages: [asked, use] })).rejects.toThrow("have no results");
  const result: Message = {
    role: "tool",
    content: [{ type: "tool_result", toolUseId: "u9", content: [], isError: false }],
  };
  await expect(engine.open({ messages: [asked, result] })).rejects.toThrow("messages.1");
  expect((await (await engine.open({ messages: [asked] })).run("Go on.").result).end).toBe("done");
});

test("a fork is made of a turn of that very session", async () => {
  const { engine } = await setUp(() => "ok");
  for (const id of ["a", "b"]) {
    await (await engine.open({ id })).run("One.", { id: `turn of ${id}` }).result;
  }
  await expect(engine.fork({ sessionId: "a", turnId: "turn of b" })).rejects.toThrow(
    "is not on the way to the head of session a",
  );
  expect((await engine.fork({ sessionId: "a", turnId: "turn of a" })).session.headTurnId).toBe(
    "turn of a",
  );
});

test.each([[0], [-1], [Number.NaN], [1.5]])("callsMax %d is refused", async (callsMax) => {
  const { engine } = await setUp(() => "ok", { config: { callsMax } });
  const session = await engine.open();
  await expect(session.run("One.").result).rejects.toThrow("a turn needs at least one call");
});

test("what is no event is refused at once", async () => {
  const { engine } = await setUp(() => "ok");
  const session = await engine.open();
  // @ts-expect-error An application without types.
  expect(() => session.run(null)).toThrow("a turn begins with a message");
});

test("an engine tells that a session goes on, by either way to open it, after the session's last event", async () => {
  const ledger = await openLedger(":memory:");
  const bus = createEventBus({ store: ledger, onProblem: () => {} });
  const { engine } = await setUp(() => "Yes.", { ledger, deps: { events: bus } });
  const first = await engine.open({ id: "s" });
  await first.run("Hello.").result;
  await first.close();
  await bus.flush();
  const again = await engine.resume("s");
  await again.close();
  await (await engine.session("s")).close();
  await bus.close();
  const events = [];
  for await (const event of ledger.readEvents({ sessionId: "s" })) events.push(event);
  const resumed = events.filter(({ type }) => type === "session.resumed");
  expect(resumed).toHaveLength(2);
  const before = events[events.findIndex(({ type }) => type === "session.resumed") - 1];
  expect(resumed[0]).toMatchObject({
    parentEventId: before?.id,
    payload: { last_event_id_at_resume: before?.id },
  });
  const [created] = events;
  if (created?.type !== "session.created") throw new Error("the first event is another one");
  // The version of the routing, not the name of a cache policy.
  expect(created.payload.routing_policy_version).toMatch(/^[0-9a-f]{12}$/);
});

test("another routing has another version, and the same one the same", () => {
  const plain = routingVersionOf({ model: "claude-sonnet-4-6" });
  expect(routingVersionOf({ model: "claude-haiku-4-5", policy: "metis" })).toBe(plain);
  const routing = { isSticky: false, rules: [], patterns: [], workspaceDefault: null };
  expect(routingVersionOf({ model: "claude-sonnet-4-6", routing })).not.toBe(plain);
});
