// Goal: a process that goes on with a session sends what its first process would have sent. Method: the same turns in one
// process and with a restart, or a crash at every point of a turn, and the bodies compared byte by byte.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findPolicy } from "../src/core/cache/policies.ts";
import type { PolicyName } from "../src/core/cache/policy.ts";
import type { StrataEvent } from "../src/core/events/event.ts";
import { itemsOf } from "../src/core/growing/growing-list.ts";
import type { Ledger } from "../src/core/ledger/ledger.ts";
import type { Message, ToolUseBlock } from "../src/core/message/message.ts";
import { resolveModel } from "../src/core/models/resolve-model.ts";
import { cheapCounter } from "../src/core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../src/core/wire/anthropic-messages/index.ts";
import { bodyText } from "../src/core/wire/encoded-request.ts";
import { openaiChat } from "../src/core/wire/openai/chat/index.ts";
import { openaiResponses } from "../src/core/wire/openai/responses/index.ts";
import type { Protocol } from "../src/core/wire/protocol.ts";
import type { Reply } from "../src/core/wire/reply.ts";
import { createEventBus } from "../src/edge/events/event-bus.ts";
import { openLedger } from "../src/edge/stores/open-ledger.ts";
import { resumeTurn, runTurn, type Deps, type TurnToRun } from "../src/engine.ts";
import { openSession } from "../src/engine/session/open-session.ts";
import type { Session, SessionSetup } from "../src/core/session/session.ts";
import { resumeSession, type ResumeSetup } from "../src/engine/session/stored-session.ts";

let ledger: Ledger;

beforeEach(async () => {
  ledger = await openLedger(":memory:");
});

afterEach(() => ledger.close());

const use: ToolUseBlock = {
  type: "tool_use",
  id: "t1",
  name: "read",
  inputJson: '{"2":1.0,"1":9007199254740993}',
};

/** Two calls a turn: one that asks for a tool, one that answers. */
function replyTo(count: number): Reply {
  const asks = count % 2 === 0;
  const id = `t${count}`;
  return {
    kind: "reply",
    id: "msg_1",
    model: "any",
    message: {
      role: "assistant",
      content: asks
        ? [
            { type: "text", text: `Looking ${count}.` },
            { ...use, id },
          ]
        : [{ type: "text", text: `Done ${count}.` }],
    },
    stopReason: asks ? "tool_use" : "end_turn",
    usage: {
      usage: {
        uncachedTokens: 40,
        cacheReadTokens: count * 100,
        cacheWriteTokens: { "5m": 2000 },
        outputTokens: 10,
        reasoningTokens: 0,
      },
      isReported: true,
      reportsCache: true,
      warnings: [],
    },
    status: "complete",
    transformations: [],
  };
}

interface World extends Deps {
  readonly bodies: string[];
  crashAt: "nowhere" | "send" | "append" | "answer" | "close";
}

class Crash extends Error {}

/** What a turn throws that meets a crash: our error, with the crash as its cause. */
const crashed = { code: "environment-unfit", cause: expect.any(Crash) };

/** A world whose clock goes on by a second with every call, and which can end at any point. */
function worldOf(start: { readonly calls: number } = { calls: 0 }): World {
  let { calls } = start;
  const world: World = {
    bodies: [],
    crashAt: "nowhere",
    ledger: crashing(() => world.crashAt),
    now: () => 1_800_000_000_000 + calls * 1000,
    runTools: (uses) => Promise.resolve(uses.map(toResult)),
    provider: {
      send: ({ request }) => {
        if (world.crashAt === "send") throw new Crash();
        world.bodies.push(bodyText(request.pieces));
        const outcome = replyTo(calls);
        calls += 1;
        const about = { startMs: 0, endMs: 0, firstByteMs: 0, status: 200, requestId: null };
        return Promise.resolve({ outcome, attempts: [], headers: {}, ...about });
      },
    },
  };
  return world;
}

/** The ledger of the test, which a crash reaches before it can do anything more. */
function crashing(at: () => World["crashAt"]): Ledger {
  const stop = (when: World["crashAt"]): void => {
    if (at() === when) throw new Crash();
  };
  return {
    ...ledger,
    openTurn: async (turn) => {
      const open = await ledger.openTurn(turn);
      return {
        ...open,
        append: async (entry, { end, ...more } = {}) => {
          stop("append");
          // Earlier versions closed a turn after its reply, and could die in between.
          const closes = end !== undefined && at() !== "close";
          await open.append(entry, { ...more, ...(closes && { end }) });
          if (end !== undefined) stop("close");
        },
        answer: (messages) => {
          stop("answer");
          return open.answer(messages);
        },
        close: (end, events) => {
          stop("close");
          return open.close(end, events);
        },
      };
    },
  };
}

function toResult({ id }: ToolUseBlock): Message {
  const content = [{ type: "text" as const, text: `Found for ${id}.` }];
  return {
    role: "tool",
    content: [{ type: "tool_result", toolUseId: id, content, isError: false }],
  };
}

function setupOf(model: string, protocol: Protocol, policy: PolicyName): SessionSetup {
  return {
    id: "demo",
    model: resolveModel(model).facts,
    protocol,
    policy: findPolicy(policy),
    context: { role: "unified", workspaceRules: "Answer briefly. ".repeat(500) },
    counter: cheapCounter,
    options: { outputTokensMax: 100, stream: false },
  };
}

function turnOf(number: number): TurnToRun {
  return { id: `turn ${number}`, event: { content: `Question ${number}.`, source: "human" } };
}

function resume(setup: ResumeSetup): Promise<Session> {
  return resumeSession(ledger, "demo", setup);
}

describe.each([
  ["claude-sonnet-4-6", anthropicMessages, "adaptive"],
  ["claude-opus-5-5", anthropicMessages, "adaptive"],
  ["claude-sonnet-4-6", anthropicMessages, "nexus"],
  ["claude-haiku-4-5", anthropicMessages, "metis"],
  ["gpt-6.1-sol", openaiResponses, "adaptive"],
  ["gpt-5.5", openaiChat, "adaptive"],
] as const)("a session with %s", (model, protocol, policy) => {
  const setup = setupOf(model, protocol, policy);

  test(`under ${policy} goes on after a restart with the bytes and the plan it would have had`, async () => {
    const world = worldOf();
    let session = openSession(setup);
    for (const number of [1, 2]) ({ session } = await runTurn(session, turnOf(number), world));
    const resumed = await resume(setup);
    expect(resumed.thread.end).toEqual(session.thread.end);
    expect(resumed.thread.keptVolatile).toBe(session.thread.keptVolatile);
    expect(resumed.cache).toEqual(session.cache);
    expect(resumed.pace).toEqual(session.pace);
    expect([...itemsOf(resumed.thread.messages)]).toEqual([...itemsOf(session.thread.messages)]);
    const later = worldOf({ calls: 4 });
    const stayed = { ...worldOf({ calls: 4 }), ledger: await openLedger(":memory:") };
    await runTurn({ ...session, headTurnId: null, isRecorded: false }, turnOf(3), stayed);
    const run = await runTurn(resumed, turnOf(3), later);
    expect(later.bodies).toEqual(stayed.bodies);
    expect(run.end).toBe("done");
    await stayed.ledger.close();
  });

  test.each(["send", "append", "answer", "close"] as const)(
    `under ${policy} that dies at its %s is resumed to the same end`,
    async (crashAt) => {
      const whole = await wholeSession(setup);
      const world = worldOf();
      const first = await runTurn(openSession(setup), turnOf(1), world);
      world.crashAt = crashAt;
      await crash(first.session, world);
      const next = worldOf({ calls: world.bodies.length - (crashAt === "append" ? 1 : 0) });
      const run = await resumeTurn(await resume(setup), {}, next);
      expect(run.end).toBe("done");
      expect(run.session.headTurnId).toBe("turn 2");
      const thread = [...itemsOf((await resume(setup)).thread.messages)].map(textsOf);
      expect(thread).toEqual(whole);
      expect(await problems()).toEqual([]);
    },
  );
});

/** What was said in two turns without a crash, volatile text left out. */
async function wholeSession(setup: SessionSetup): Promise<readonly string[]> {
  const elsewhere = await openLedger(":memory:");
  const world = { ...worldOf(), ledger: elsewhere };
  let session = openSession(setup);
  for (const number of [1, 2]) ({ session } = await runTurn(session, turnOf(number), world));
  await elsewhere.close();
  return [...itemsOf(session.thread.messages)].map(textsOf);
}

function textsOf({ role, content }: Message): string {
  const texts = content.map((block) =>
    block.type === "text" ? block.text.replace(/Current time: \S+/, "Current time") : block.type,
  );
  return `${role}: ${texts.join(" | ")}`;
}

/** A process that dies cannot give its turn back: the lease just ends. */
async function crash(session: Session, world: World): Promise<void> {
  await expect(runTurn(session, turnOf(2), world)).rejects.toMatchObject(crashed);
}

async function problems(): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const problem of ledger.check()) found.push(problem);
  return found;
}

test("a conversation that a session goes on from is in the ledger, too", async () => {
  const setup = setupOf("claude-sonnet-4-6", anthropicMessages, "adaptive");
  const messages: readonly Message[] = [
    { role: "user", content: [{ type: "text", text: "Earlier." }] },
    { role: "assistant", content: [{ type: "text", text: "Yes." }] },
  ];
  const { session } = await runTurn(openSession({ ...setup, messages }), turnOf(1), worldOf());
  const resumed = await resume(setup);
  expect(resumed.thread.end).toEqual(session.thread.end);
  expect((await ledger.findSession("demo"))?.turnCount).toBe(2);
});

test("a session is resumed only with the model it was opened with", async () => {
  const setup = setupOf("claude-sonnet-4-6", anthropicMessages, "adaptive");
  await runTurn(openSession(setup), turnOf(1), worldOf());
  const other = { ...setup, model: resolveModel("claude-opus-5-5").facts };
  await expect(resume(other)).rejects.toMatchObject({ code: "input-invalid" });
  await expect(resumeSession(ledger, "none", setup)).rejects.toMatchObject({ code: "not-found" });
});

test("a session of another process that moved on is not forked silently", async () => {
  const setup = setupOf("claude-sonnet-4-6", anthropicMessages, "adaptive");
  const { session } = await runTurn(openSession(setup), turnOf(1), worldOf());
  await runTurn(await resume(setup), turnOf(2), worldOf());
  await expect(runTurn(session, turnOf(3), worldOf())).rejects.toMatchObject({
    code: "conflict",
    message: "session demo has moved on: it points at turn 2, not at turn 1",
  });
});

test("a turn is resumed only on the session it was begun on", async () => {
  const setup = setupOf("claude-sonnet-4-6", anthropicMessages, "adaptive");
  const world = worldOf();
  const { session: stale } = await runTurn(openSession(setup), turnOf(1), world);
  const { session } = await runTurn(stale, turnOf(2), world);
  world.crashAt = "answer";
  await expect(runTurn(session, turnOf(3), world)).rejects.toMatchObject(crashed);
  await expect(resumeTurn(stale, {}, worldOf())).rejects.toMatchObject({
    code: "conflict",
    message: "session demo has moved on: turn turn 3 follows turn 2, not turn 1",
  });
  const run = await resumeTurn(await resume(setup), {}, worldOf({ calls: 5 }));
  expect(run.end).toBe("done");
});

test("a reply that was cut off inside a tool use ends its turn, also when it is resumed", async () => {
  const setup = setupOf("claude-sonnet-4-6", anthropicMessages, "adaptive");
  const world = worldOf();
  const cut: Deps = {
    ...world,
    provider: {
      send: async (call) => {
        const sent = await world.provider.send(call);
        const { outcome } = sent;
        return outcome.kind === "reply"
          ? { ...sent, outcome: { ...outcome, stopReason: "max_tokens" } }
          : sent;
      },
    },
  };
  world.crashAt = "close";
  await expect(runTurn(openSession(setup), turnOf(1), cut)).rejects.toMatchObject(crashed);
  world.crashAt = "nowhere";
  const run = await resumeTurn(await resume(setup), {}, world);
  expect([run.end, run.session.headTurnId]).toEqual(["cut off", null]);
  const next = await runTurn(run.session, turnOf(2), worldOf({ calls: 1 }));
  expect(next.end).toBe("done");
});

test("a session whose first turn could not be opened is not lost", async () => {
  const setup = setupOf("claude-sonnet-4-6", anthropicMessages, "adaptive");
  const session = openSession({
    ...setup,
    messages: [{ role: "user", content: [{ type: "text", text: "Earlier." }] }],
  });
  const failing = { ...ledger, openTurn: () => Promise.reject(new Crash()) };
  await expect(
    runTurn(session, turnOf(1), { ...worldOf(), ledger: failing }),
  ).rejects.toMatchObject(crashed);
  const run = await runTurn(session, turnOf(1), worldOf());
  expect(run.end).toBe("done");
  expect((await resume(setup)).thread.end).toEqual(run.session.thread.end);
  await expect(runTurn(session, turnOf(2), worldOf())).rejects.toMatchObject({ code: "conflict" });
});

test("a turn that is resumed says how far it had come", async () => {
  const setup = setupOf("claude-sonnet-4-6", anthropicMessages, "adaptive");
  const world = worldOf();
  world.crashAt = "answer";
  await expect(runTurn(openSession(setup), turnOf(1), world)).rejects.toMatchObject(crashed);
  const bus = createEventBus({ strictness: "strict", onProblem: () => {} });
  const told: StrataEvent[] = [];
  bus.subscribe((event) => told.push(event));
  await resumeTurn(await resume(setup), {}, { ...worldOf({ calls: 1 }), events: bus });
  expect(told.map(({ type }) => type)).toEqual([
    "turn.resumed",
    "llm.call_started",
    "llm.call_completed",
    // The provider of this test reads next to nothing.
    "cache.miss",
    "turn.completed",
  ]);
  expect(told[0]?.payload).toEqual({ llm_call_count: 1, tool_call_count: 1 });
});
