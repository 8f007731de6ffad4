// Goal: an application without types may pass anything: it gets a StrataError with a code and a hint, never a TypeError
// from inside, and nothing is recorded by half. Method: every odd value at every door of the public API.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { validateConversation } from "../../src/core/message/validate-conversation.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import {
  defineTool,
  openEngine,
  openLedger,
  StrataError,
  type EngineSession,
  type Ledger,
  type Message,
  type OpenedEngine,
} from "../../src/index.ts";

const circular: Record<string, unknown> = {};
circular["self"] = circular;
const nested: { type: string; toolUseId: string; isError: boolean; content: unknown[] } = {
  type: "tool_result",
  toolUseId: "t",
  isError: false,
  content: [],
};
nested.content.push(nested);
const throwing = {
  get content(): string {
    throw new Error("a getter that throws");
  },
};

/** Values that are no name, no text and no options. */
const odd: readonly (readonly [string, unknown])[] = [
  ["undefined", undefined],
  ["null", null],
  ["a number", 5],
  ["NaN", Number.NaN],
  ["a big integer", 10n],
  ["true", true],
  ["a symbol", Symbol("odd")],
  ["a function", () => "odd"],
  ["an empty object", {}],
  ["a list", [1, 2]],
  ["a circular object", circular],
  ["a date", new Date(0)],
];

let ledger: Ledger;
let engine: OpenedEngine;
beforeAll(async () => {
  ledger = await openLedger(":memory:");
  engine = await openEngine({
    model: "claude-sonnet-5-5",
    counter: cheapCounter,
    env: {},
    store: ledger,
    simulate: true,
  });
});
afterAll(async () => {
  await engine.close();
  await ledger.close();
});

/** What was thrown, at once or later; null for nothing. */
async function thrownBy(work: () => unknown): Promise<unknown> {
  try {
    await work();
    return null;
  } catch (error) {
    return error;
  }
}

function expectRefused(name: string, error: unknown): void {
  const { code, hint, message } = error instanceof StrataError ? error : toPlain(error);
  expect({ name, code, hint, message }).toEqual({
    name,
    code: expect.stringMatching(/invalid|usage|unknown|unfit|conflict|not-found/),
    hint: expect.stringMatching(/\w+ \S+/),
    message: expect.stringMatching(/\w+ \S+/),
  });
}

function toPlain(
  error: unknown,
): Pick<StrataError, "hint" | "message"> & { readonly code: string } {
  return { code: "none", hint: "none", message: String(error) };
}

/** Whatever happened, the ledger has whole turns only, and the session runs. */
async function expectWhole(session: EngineSession): Promise<void> {
  const { end } = await session.run("Still there?").result;
  expect(end).toBe("done");
  const record = await ledger.findSession(session.id);
  expect(record?.openTurnId).toBeNull();
  const messages: Message[] = [];
  for await (const { message } of ledger.readThread({ sessionId: session.id })) {
    messages.push(message);
  }
  expect(validateConversation(messages)).toEqual([]);
}

const never = (value: unknown): never => value as never;

describe("session.run", () => {
  const events: readonly (readonly [string, unknown])[] = [
    ...odd,
    ["empty text", ""],
    ["white space", " \n"],
    ["an event without content", { source: "human" }],
    ["content that throws", throwing],
    ...odd.map(([name, value]) => [`content of ${name}`, { content: value, source: "x" }] as const),
    ...odd.map(
      ([name, value]) => [`a block of ${name}`, { content: [value], source: "x" }] as const,
    ),
    ["an empty list of blocks", { content: [], source: "x" }],
    ["a block of an unknown type", { content: [{ type: "odd" }], source: "x" }],
    ["text that is a number", { content: [{ type: "text", text: 5 }], source: "x" }],
    ["a tool use of the user", { content: [toolUse()], source: "x" }],
    ["a result within itself", { content: [nested], source: "x" }],
    ["a source of a number", { content: "Hi.", source: 5 }],
    ["a time zone of a number", { content: "Hi.", source: "x", timezone: 5 }],
    ["a platform of a list", { content: "Hi.", source: "x", platform: ["a"] }],
    ["actions of a number", { content: "Hi.", source: "x", platform: "p", platformActions: 5 }],
    ["hook data of text", { content: "Hi.", source: "x", hookData: "odd" }],
    ["hook data without text", { content: "Hi.", source: "x", hookData: [{ persist: true }] }],
  ];

  test("refuses what is no message and no event, and the session goes on", async () => {
    const session = await engine.session("odd events");
    for (const [name, event] of events) {
      const error = await thrownBy(() => session.run(never(event)).result);
      expectRefused(`run(${name})`, error);
      const own = await thrownBy(() => session.prepare(never(event)));
      expectRefused(`prepare(${name})`, own);
    }
    expect(await ledger.findSession("odd events")).toBeNull();
    await expectWhole(session);
  });

  test("refuses odd options", async () => {
    const session = await engine.session("odd options");
    for (const [name, value] of odd) {
      if (value === undefined) continue;
      const options = [
        ...(typeof value === "object" && !Array.isArray(value)
          ? []
          : [["options", value] as const]),
        ["id", { id: value }] as const,
        ["model", { model: value }] as const,
        ["signal", { signal: value }] as const,
      ].filter(([, given]) => !isDefaulted(given));
      for (const [what, given] of options) {
        const error = await thrownBy(() => session.run("Hi.", never(given)).result);
        expectRefused(`run with ${what} of ${name}`, error);
      }
    }
    expect(await ledger.findSession("odd options")).toBeNull();
    await expectWhole(session);
  });

  test("takes any text: long, with half characters, with controls", async () => {
    const session = await engine.session("odd text");
    for (const text of [
      "half \ud83d",
      "\u0000\u0007 bell",
      "x".repeat(10_000_000),
      "{}",
      "\ufeff",
    ]) {
      const error = await thrownBy(() => session.run(text).result);
      expect([text.slice(0, 10), error === null || error instanceof StrataError]).toEqual([
        text.slice(0, 10),
        true,
      ]);
    }
    await expectWhole(session);
  });

  test("steering, tool results, replies and changes are checked, too", async () => {
    const session = await engine.session("odd others");
    const running = session.run("Hi.");
    for (const [name, value] of odd) {
      expectRefused(`steer(${name})`, await thrownBy(() => running.steer(never(value))));
    }
    await running.result;
    for (const [name, value] of odd) {
      expectRefused(`useModel(${name})`, await thrownBy(() => session.useModel(never(value))));
      if (value === undefined) continue;
      const given = [value, { focus: value }, { signal: value }].filter(
        (each) => !isDefaulted(each) && !isPlain(each),
      );
      for (const each of given) {
        const error = await thrownBy(() => session.compact(never(each)));
        expectRefused(`compact(${name})`, error);
      }
    }
    const call = await session.prepare("Look.");
    for (const [name, value] of odd) {
      expectRefused(`record(${name})`, await thrownBy(() => session.record(never(value), "{}")));
      const answers = await thrownBy(() => session.prepare(never([value])));
      expectRefused(`prepare([${name}])`, answers);
    }
    // A reply that cannot be read is a failure of the call.
    const { run } = await session.record(call, circular);
    expect(run?.end).toBe("failed");
    await expectWhole(session);
  });
});

function toolUse(): unknown {
  return { type: "tool_use", id: "t", name: "x", inputJson: "{}" };
}

/** Whether everything given is left out. */
function isDefaulted(given: unknown): boolean {
  return isPlain(given) && Object.values(given as object).every((value) => value === undefined);
}

function isPlain(given: unknown): boolean {
  return (
    typeof given === "object" && given !== null && Object.keys(given).every((key) => key === "self")
  );
}

test("an engine refuses odd names and odd messages", async () => {
  expect(odd.length).toBeGreaterThan(10);
  for (const [name, value] of [...odd, ["empty text", ""] as const]) {
    expectRefused(`session(${name})`, await thrownBy(() => engine.session(never(value))));
    expectRefused(`resume(${name})`, await thrownBy(() => engine.resume(never(value))));
    expectRefused(`fork(${name})`, await thrownBy(() => engine.fork(never(value))));
    const from = { sessionId: value };
    expectRefused(`fork from ${name}`, await thrownBy(() => engine.fork(never(from))));
    if (value === undefined) continue;
    expectRefused(`open({id: ${name}})`, await thrownBy(() => engine.open(never({ id: value }))));
    const messages = { messages: value };
    if (name !== "empty text") {
      expectRefused(
        `open({messages: ${name}})`,
        await thrownBy(() => engine.open(never(messages))),
      );
    }
    const model = { model: value };
    expectRefused(`open({model: ${name}})`, await thrownBy(() => engine.open(never(model))));
  }
});

test("openEngine refuses odd options and opens nothing", async () => {
  const usual = { model: "claude-sonnet-5-5", counter: cheapCounter, env: {}, simulate: true };
  const names = [
    "model",
    "agent",
    "role",
    "policy",
    "padding",
    "options",
    "compaction",
    "reserves",
    "pace",
    "callsMax",
    "workspacePath",
    "routing",
    "spending",
    "system",
    "tools",
    "store",
    "unfinished",
    "confirm",
    "onNotice",
    "catalogue",
    "counter",
  ];
  expect(names).toHaveLength(21);
  for (const [name, value] of odd) {
    expectRefused(`openEngine(${name})`, await thrownBy(() => openEngine(never(value))));
    if (value === undefined) continue;
    for (const key of names) {
      if (isFitting(key, value)) continue;
      const error = await thrownBy(async () => {
        const opened = await openEngine(never({ ...usual, [key]: value }));
        await opened.close();
      });
      expectRefused(`openEngine({${key}: ${name}})`, error);
    }
  }
});

/** Options that any object, or a function, is good enough for. */
function isFitting(key: string, value: unknown): boolean {
  if (key === "confirm" || key === "onNotice") return typeof value === "function";
  if (key === "callsMax") return value === 5;
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  // Everything in them may be missing, and nothing else may be there.
  if (key === "routing" || key === "spending") return isObject && Object.keys(value).length === 0;
  return key === "options" && isObject;
}

test("defineTool refuses odd tools", async () => {
  const usual = { name: "look", description: "Looks", run: () => "ok" };
  for (const [name, value] of odd) {
    expectRefused(`defineTool(${name})`, await thrownBy(() => defineTool(never(value))));
    for (const key of [
      "name",
      "description",
      "run",
      "input",
      "needs",
      "timeoutMs",
      "sideEffects",
    ]) {
      if (isFittingTool(key, value)) continue;
      const error = await thrownBy(() => defineTool(never({ ...usual, [key]: value })));
      expectRefused(`defineTool({${key}: ${name}})`, error);
    }
    const schema = { type: "object", properties: { path: value } };
    const error = await thrownBy(() => defineTool(never({ ...usual, input: schema })));
    expect([name, error === null || error instanceof StrataError]).toEqual([name, true]);
  }
});

function isFittingTool(key: string, value: unknown): boolean {
  if (key === "run") return typeof value === "function";
  if (value === undefined) return key !== "name" && key !== "description";
  if (key === "timeoutMs") return value === 5;
  return key === "input" && isPlain(value) && value !== circular;
}
