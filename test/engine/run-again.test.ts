// Goal: whatever fails while a turn runs, the error says what to do, and the same process goes on with the same session.
// Method: everything that an engine is given (ledger, provider, clock, world, configuration, events) fails once, at each
// of the places where it is used, on SQLite; then the session runs again.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { summarySections } from "../../src/core/compaction/summary/sections.ts";
import { validateConversation } from "../../src/core/message/validate-conversation.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import type { Message } from "../../src/core/message/message.ts";
import { bodyText } from "../../src/core/wire/encoded-request.ts";
import type { Reply } from "../../src/core/wire/reply.ts";
import {
  anthropicMessages,
  cheapCounter,
  createDispatcher,
  createEngine,
  createEventBus,
  defaultCompactionSettings,
  defineTool,
  openLedger,
  StrataError,
  type CompactionSettings,
  type Engine,
  type EngineSession,
} from "../../src/index.ts";

let ledger: Ledger;
beforeAll(async () => {
  ledger = await openLedger(":memory:");
});
afterAll(() => ledger.close());

/** Fails once, at the nth place that is passed. */
interface Fault {
  /** 0 for none. */
  at: number;
  passed: string[];
  /** Whether everything of the ledger fails from there on. */
  isLasting?: boolean;
  /** Whether turns are compacted while it is planted. */
  compacts?: boolean;
}

function pass(fault: Fault, place: string): void {
  fault.passed.push(place);
  const { at, passed, isLasting = false } = fault;
  const isAfter =
    isLasting && at > 0 && passed.length > at && /^(?:ledger|turn|lock)\./.test(place);
  if (passed.length === at || isAfter) throw new Error(`planted at ${place}`);
}

/** Fails before a write, or after it has landed. */
function failing<Part extends object>(part: Part, name: string, fault: Fault): Part {
  return new Proxy(part, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== "function" || typeof key !== "string") return value;
      if (key.startsWith("read") && name === "ledger") return value.bind(target) as unknown;
      const place = `${name}.${key}`;
      const call = (given: readonly unknown[]): unknown => {
        pass(fault, place);
        return Reflect.apply(value, target, given) as unknown;
      };
      if (name === "events") return (...given: readonly unknown[]) => call(given);
      return async (...given: readonly unknown[]) => {
        const made = await call(given);
        // A ledger that made a handle returns it.
        const handle = handles[key];
        if (handle !== undefined && made !== null) return failing(made as object, handle, fault);
        pass(fault, `${place}, landed`);
        return made;
      };
    },
  });
}

const handles: Readonly<Record<string, string>> = {
  openTurn: "turn",
  resumeTurn: "turn",
  lockCompaction: "lock",
};

function reply(body: string, content: Message["content"]): Reply {
  const usage = {
    uncachedTokens: Math.round(body.length / 4),
    cacheReadTokens: 0,
    cacheWriteTokens: {},
    outputTokens: 10,
    reasoningTokens: 0,
  };
  return {
    kind: "reply",
    id: "msg_1",
    model: "claude-sonnet-4-6",
    message: { role: "assistant", content },
    stopReason: content[0]?.type === "tool_use" ? "tool_use" : "end_turn",
    usage: { usage, isReported: true, reportsCache: true, warnings: [] },
    status: "complete",
    transformations: [],
  };
}

const model = "claude-sonnet-4-6";
const summary = summarySections
  .map(({ heading }, at) => `## ${heading}\nThe user asked to remember a long text, part ${at}.`)
  .join("\n\n");
let used = 0;
/** Asks for a tool after each message of a person, and answers after each result. */
function answer(body: string): Reply {
  const last = body.lastIndexOf('"role":"user"');
  if (body.includes("Write a summary of")) return reply(body, [{ type: "text", text: summary }]);
  if (body.slice(last).includes("tool_result")) {
    return reply(body, [{ type: "text", text: "It is red." }]);
  }
  used += 1;
  const use = { type: "tool_use", id: `toolu_${used}`, name: "look", inputJson: "{}" } as const;
  return reply(body, [use]);
}

const sent = {
  attempts: [],
  startMs: 0,
  endMs: 0,
  firstByteMs: null,
  status: 200,
  requestId: null,
  headers: {},
};

/** Every turn is compacted where that is enabled, down to the last one. */
const soonCompacted: CompactionSettings = {
  ...defaultCompactionSettings,
  compactAtShare: 0.0001,
  timing: "at once",
  tailKeepTokens: 20,
  tailTurnsMin: 1,
  auto: {
    ...defaultCompactionSettings.auto,
    turnsBetweenMin: 0,
    callsBetweenMin: 0,
    compactionsMax: 99,
  },
};

function openFailing(fault: Fault): Engine {
  const look = defineTool({ name: "look", description: "Looks", run: () => "red" });
  const dispatcher = createDispatcher({ tools: [look] });
  const bus = createEventBus({ onProblem: () => {} });
  return createEngine(
    () => {
      pass(fault, "config");
      const isEnabled = fault.compacts === true && fault.at > 0;
      return Promise.resolve({ model, compaction: { ...soonCompacted, isEnabled } });
    },
    {
      ledger: failing(ledger, "ledger", fault),
      events: failing(bus, "events", fault),
      counter: cheapCounter,
      now: () => {
        pass(fault, "clock");
        return Date.now();
      },
      reach: () => ({
        protocol: anthropicMessages,
        provider: {
          send: ({ request }) => {
            pass(fault, "provider");
            const outcome = answer(bodyText(request.pieces));
            return Promise.resolve({ ...sent, outcome });
          },
        },
      }),
      world: () =>
        Promise.resolve({
          context: () => Promise.resolve({ parts: { system: "Look." } }),
          tools: {
            toolsFor: (role) => dispatcher.toolsFor(role),
            runAll: (uses, call) => {
              pass(fault, "tools");
              return dispatcher.runAll(uses, call);
            },
          },
          volatile: () => {
            pass(fault, "world");
            return Promise.resolve([]);
          },
        }),
    },
  );
}

/** What the ledger has of a session, which must be whole. */
async function textsOf(id: string): Promise<readonly string[]> {
  const messages: Message[] = [];
  for await (const { message } of ledger.readThread({ sessionId: id })) messages.push(message);
  expect(validateConversation(messages)).toEqual([]);
  return messages.flatMap(({ role, content }) =>
    role === "user" ? content.flatMap((block) => (block.type === "text" ? [block.text] : [])) : [],
  );
}

let count = 0;
const nextId = (): string => `session-${(count += 1)}`;

/** Plays until the fault lies behind the last place; gives the places where it was planted. */
async function atEachPlace(play: (fault: Fault) => Promise<void>): Promise<readonly string[]> {
  const planted: string[] = [];
  for (let at = 1; ; at += 1) {
    const fault: Fault = { at, passed: [] };
    await play(fault);
    const place = fault.passed[at - 1];
    if (place === undefined) return planted;
    planted.push(place);
  }
}

function expectHelp(error: unknown): void {
  expect(error).toBeInstanceOf(StrataError);
  expect((error as StrataError).code).not.toBe("");
  expect((error as StrataError).hint.length).toBeGreaterThan(10);
}

/** What a caller gets: the end of the turn, or an error that helps. */
async function endOf(running: Promise<{ readonly end: string } | null>): Promise<string> {
  return running.then(
    (run) => run?.end ?? "open",
    (error: unknown) => {
      expectHelp(error);
      return "threw";
    },
  );
}

/** A turn in which something fails once, or everything of the ledger from there on. */
async function playTurn(
  fault: Fault,
  prepare: (session: EngineSession) => Promise<void>,
  run: (session: EngineSession) => Promise<string>,
): Promise<void> {
  const armed = fault.at;
  fault.at = 0;
  const engine = openFailing(fault);
  const id = nextId();
  const session = await engine.session(id);
  await prepare(session);
  fault.passed = [];
  fault.at = armed;
  const first = await run(session);
  const wasPlanted = fault.passed.length >= armed;
  const place = fault.passed[armed - 1];
  fault.at = 0;
  const { end } = await session.run("Two.").result.catch((error: unknown) => {
    throw new Error(`after ${place}: ${String(error)}`, { cause: error });
  });
  expect([place, end]).toEqual([place, "done"]);
  expect([wasPlanted, first]).toEqual([wasPlanted, wasPlanted ? first : "done"]);
  expect((await ledger.findSession(id))?.openTurnId).toBeNull();
  const texts = await textsOf(id);
  expect([place, texts.filter((text) => text === "One.").length <= 1]).toEqual([place, true]);
  expect([place, texts.filter((text) => text === "Two.")]).toEqual([place, ["Two."]]);
  await engine.close();
  if (!wasPlanted) fault.passed.length = armed - 1;
}

const runOne = (session: EngineSession): Promise<string> => endOf(session.run("One.").result);
const runZero = async (session: EngineSession): Promise<void> => {
  await session.run("Zero.").result;
};

const compactNow = (session: EngineSession): Promise<string> =>
  endOf(session.compact().then(() => ({ end: "done" })));
const runLong = async (session: EngineSession): Promise<void> => {
  await session.run(`Remember this: ${"lorem ipsum ".repeat(300)}`).result;
  await session.run("Thanks.").result;
};

describe("after a failure anywhere, the error has a code and a hint, and the next run succeeds", () => {
  test("in a session's first turn", async () => {
    const places = await atEachPlace((fault) => playTurn(fault, async () => {}, runOne));
    expect(places).toEqual(
      expect.arrayContaining(["ledger.createSession", "ledger.createSession, landed"]),
    );
  });

  test("in a later turn", async () => {
    const places = await atEachPlace((fault) => playTurn(fault, runZero, runOne));
    expect(places).toEqual(
      expect.arrayContaining([
        "ledger.openTurn",
        "turn.append",
        "turn.append, landed",
        "turn.answer",
        "provider",
        "tools",
        "clock",
        "world",
        "config",
        "events.emit",
      ]),
    );
  });

  test("of a ledger that stays away until the turn is over", async () => {
    const places = await atEachPlace((fault) =>
      playTurn(Object.assign(fault, { isLasting: true }), runZero, runOne),
    );
    expect(places).toContain("turn.append");
  });

  test("in a compaction within the turn", async () => {
    const places = await atEachPlace((fault) =>
      playTurn(Object.assign(fault, { compacts: true }), runLong, runOne),
    );
    expect(places).toEqual(
      expect.arrayContaining(["ledger.lockCompaction", "turn.compact", "turn.compact, landed"]),
    );
  });

  test("in a compaction between turns", async () => {
    const places = await atEachPlace((fault) => playTurn(fault, runLong, compactNow));
    expect(places).toEqual(expect.arrayContaining(["lock.commit", "lock.commit, landed"]));
  });
});
