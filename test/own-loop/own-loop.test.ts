// Goal: an application with a loop of its own gets what our loop gives. Method: it is one, sends exact bytes to the
// simulator, and the ledger and the trace are looked at.
import { describe, expect, test } from "vitest";
import { checkTrace } from "../../harness/check-trace.ts";
import type { StrataEvent } from "../../src/core/events/event.ts";
import { defaultCompactionSettings } from "../../src/core/compaction/plan/settings.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import { bodyText } from "../../src/core/wire/encoded-request.ts";
import type { Message } from "../../src/core/message/message.ts";
import { anthropicMessages } from "../../src/core/wire/anthropic-messages/index.ts";
import type { EngineSession } from "../../src/engine/session/engine-session.ts";
import type { ToolAnswer } from "../../src/engine/own-loop/tool-answers.ts";
import { sendsNothing } from "../../src/engine/own-loop/application-side.ts";
import { manual, openWorld, problemsOf, type World } from "./test-kit.ts";

async function eventsOf(ledger: Ledger, sessionId: string): Promise<readonly StrataEvent[]> {
  const events: StrataEvent[] = [];
  for await (const event of ledger.readEvents({ sessionId })) events.push(event);
  return events;
}

test("a turn with a tool is two calls, prepared and recorded one after the other", async () => {
  const { engine, ledger, post, simulator } = await openWorld();
  const session = await engine.open({ id: "own" });
  const first = await session.prepare("Why is CI red?", { id: "turn-1" });
  expect([first.turnId, first.number, first.path]).toEqual(["turn-1", 1, "/v1/messages"]);
  expect((await ledger.readMessages("turn-1")).map(({ message }) => message.role)).toEqual([
    "user",
  ]);
  await simulator.clock.advance(2000);
  const asked = await session.record(first, await post(first));
  expect(asked.run).toBeNull();
  expect(asked.toolUses.map(({ name }) => name)).toEqual(["look"]);
  expect(asked.entry.usage?.cacheWriteTokens).not.toEqual({});
  expect(asked.entry.endMs - asked.entry.startMs).toBe(2000);
  const [use] = asked.toolUses;
  const second = await session.prepare([{ toolUseId: use?.id ?? "", content: "red: line 3" }]);
  expect(second.number).toBe(2);
  const done = await session.record(second, await post(second));
  expect(done.run?.end).toBe("done");
  expect(done.entry.verdict?.kind).toBe("as expected");
  expect(done.entry.usage?.cacheReadTokens).toBeGreaterThan(1024);
  expect(done.entry.costPicoUsd).toBeGreaterThan(0n);
  expect(session.session.headTurnId).toBe("turn-1");
  expect((await ledger.readCalls("turn-1")).map(({ status }) => status)).toEqual([
    "complete",
    "complete",
  ]);
  const third = await session.prepare("Thank you.");
  expect((await session.record(third, await post(third))).run?.end).toBe("done");
  expect(await problemsOf(ledger)).toEqual([]);
});

test("its trace is the one of our own loop", async () => {
  const { engine, ledger, post } = await openWorld({ script: [{ text: "Hi." }] });
  const session = await engine.open({ id: "own" });
  const call = await session.prepare("Hello.");
  await session.record(call, await post(call));
  await engine.close();
  await expect
    .poll(async () => (await eventsOf(ledger, "own")).map(({ type }) => type))
    .toEqual([
      "session.created",
      "turn.started",
      "route.decided",
      "llm.call_started",
      "llm.call_completed",
      "turn.completed",
      "session.ended",
    ]);
  expect(checkTrace(await eventsOf(ledger, "own"))).toEqual([]);
});

test("X-07: a prepared call tells everything the turn is run with", async () => {
  const { engine } = await openWorld();
  const session = await engine.open({ id: "own" });
  const context = (await session.prepare("Why is CI red?", { id: "turn-1" })).toContext();
  expect(context).toMatchObject({
    runId: "turn-1",
    role: "unified",
    systemPrompt: expect.stringContaining(manual.trim()),
    tools: [{ name: "look" }],
    toolsetName: "own",
    permissionsGranted: [],
    model: "claude-sonnet-4-6",
    provider: "anthropic",
    responseTokensMax: 500,
    sessionLabel: "own",
    parentTurnId: null,
    workspacePath: "",
  });
  expect(context.tokenBudget.remainingTokens).toBeGreaterThan(100_000);
  expect(context.abortSignal?.aborted).toBe(false);
  await session.abandon();
  expect(context.abortSignal?.aborted).toBe(true);
});

/** Where thinking is bound to its prefix, the time of earlier calls stays in the conversation, as a system message. */
const rolesOf = (messages: readonly Message[]): readonly string[] =>
  messages.flatMap(({ role }) => (role === "system" ? [] : [role]));

const asking = (text: string) => ({ role: "user", content: [{ type: "text", text }] });

test.each(["claude-sonnet-4-6", "claude-sonnet-5-5"])(
  "X-07: on %s the current message is the event with its words, history is what was said before, and the time stands apart",
  async (model) => {
    const { engine, post } = await openWorld({ config: { model } });
    const session = await engine.open({ id: "own" });
    const first = await session.prepare("Why is CI red?");
    expect(first.toContext()).toMatchObject({
      history: [],
      currentMessage: asking("Why is CI red?"),
      sinceEvent: [],
      volatileText: expect.stringContaining("Current time: "),
    });
    const { toolUses } = await session.record(first, await post(first));
    const answers = toolUses.map(({ id }) => ({ toolUseId: id, content: "red" }));
    const second = await session.prepare(answers);
    const later = second.toContext();
    expect([later.history, later.currentMessage]).toEqual([[], asking("Why is CI red?")]);
    expect(rolesOf(later.sinceEvent)).toEqual(["assistant", "tool"]);
    await session.record(second, await post(second));
    const { history, currentMessage } = (await session.prepare("Thanks.")).toContext();
    expect(rolesOf(history)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(currentMessage).toEqual(asking("Thanks."));
  },
);

test("X-07: the time limit is the provider's", async () => {
  const provider = { ...sendsNothing, timeoutMs: 12_345 };
  const reach = () => ({ protocol: anthropicMessages, provider });
  const { engine } = await openWorld({ deps: { reach } });
  const call = await (await engine.open()).prepare("Why is CI red?");
  expect(call.toContext().timeoutMs).toBe(12_345);
});

test("the object for an SDK and the bytes say the same", async () => {
  const { engine } = await openWorld();
  const call = await (await engine.open()).prepare("Why is CI red?");
  const text = new TextDecoder().decode(call.toBytes());
  expect(text).toBe(bodyText(call.request.pieces));
  expect(call.toObject()).toEqual(JSON.parse(text));
});

describe("what is out of order is refused, and nothing is lost by it", () => {
  test("a second turn, a call twice, and tools that nobody asked for", async () => {
    const { engine, post } = await openWorld();
    const session = await engine.open();
    const call = await session.prepare("Why is CI red?");
    await expect(session.prepare("And?")).rejects.toMatchObject({ code: "conflict" });
    const later = session.run("And?");
    later.abort();
    await expect(later.result).rejects.toThrow("was withdrawn before it had its turn");
    await expect(session.prepare([{ toolUseId: "x", content: "" }])).rejects.toMatchObject({
      code: "input-invalid",
    });
    const { toolUses } = await session.record(call, await post(call));
    await expect(session.record(call, "{}")).rejects.toMatchObject({ code: "conflict" });
    await expect(session.prepare([{ toolUseId: "x", content: "" }])).rejects.toThrow(
      "there is no open tool use x",
    );
    const nothing = { toolUseId: toolUses[0]?.id ?? "", content: undefined } as unknown;
    await expect(session.prepare([nothing as ToolAnswer])).rejects.toThrow(
      "its result.content must be a list",
    );
    const next = await session.prepare([{ toolUseId: toolUses[0]?.id ?? "", content: "red" }]);
    expect((await session.record(next, await post(next))).run?.end).toBe("done");
    await expect(session.prepare([])).rejects.toThrow("no turn is prepared");
  });

  test("a use without an answer is said to have given none", async () => {
    const { engine, post } = await openWorld();
    const session = await engine.open();
    const call = await session.prepare("Why is CI red?");
    await session.record(call, await post(call));
    const next = await session.prepare([]);
    expect(bodyText(next.request.pieces)).toContain("The tool gave no result.");
  });
});

describe("a prepared turn that comes to nothing", () => {
  test("is recorded as failed where an error is recorded, and its words are taken back", async () => {
    const { engine, ledger, post, simulator } = await openWorld({ script: [{ text: "Hi." }] });
    const session = await engine.open();
    simulator.fault({ kind: "overloaded" });
    const call = await session.prepare("Hello.", { id: "turn-1" });
    const { run, entry } = await session.record(call, await post(call));
    expect([run?.end, entry.failure?.kind]).toEqual(["failed", "overloaded"]);
    expect((await ledger.findTurn("turn-1"))?.status).toBe("failed");
    const again = await session.prepare("Hello again.");
    expect(bodyText(again.request.pieces)).not.toContain('"Hello."');
    expect((await session.record(again, await post(again))).run?.end).toBe("done");
  });

  test("is given up by `abandon`, whether a call or tools are waited for", async () => {
    const { engine, ledger, post } = await openWorld();
    const session = await engine.open();
    const call = await session.prepare("Hello.", { id: "turn-1" });
    expect((await session.abandon())?.end).toBe("cancelled");
    await expect(session.record(call, "{}")).rejects.toMatchObject({ code: "conflict" });
    const other = await session.prepare("Why is CI red?", { id: "turn-2" });
    await session.record(other, await post(other));
    expect((await session.abandon())?.end).toBe("cancelled");
    expect(await session.abandon()).toBeNull();
    expect((await ledger.findTurn("turn-2"))?.status).toBe("failed");
    expect((await ledger.findSession(session.id))?.openTurnId).toBeNull();
    expect(await problemsOf(ledger)).toEqual([]);
  });

  test("is let go of by `release`, and taken up elsewhere with the same bytes up to the time", async () => {
    const { engine, ledger, post, simulator } = await openWorld();
    const session = await engine.open({ id: "own" });
    const call = await session.prepare("Why is CI red?", { id: "turn-1" });
    await session.release();
    expect((await ledger.findSession("own"))?.openTurnId).toBe("turn-1");
    await simulator.clock.advance(5000);
    const other = await engine.resume("own");
    expect(await other.prepareUnfinished()).toEqual({ toolUses: [], run: null });
    const again = await other.prepare([]);
    const [before, after] = [call, again].map(({ request }) =>
      bodyText(request.pieces).split(/Current time: [\dTZ:.-]+/),
    );
    expect(before).toHaveLength(2);
    expect(after).toEqual(before);
    const { toolUses } = await other.record(again, await post(again));
    await other.release();
    expect(await ledger.readMessages("turn-1")).toHaveLength(2);
    const third = await engine.resume("own");
    expect(await third.prepareUnfinished()).toEqual({ toolUses, run: null });
    const last = await third.prepare([{ toolUseId: toolUses[0]?.id ?? "", content: "red" }]);
    expect((await third.record(last, await post(last))).run?.end).toBe("done");
    expect(await problemsOf(ledger)).toEqual([]);
  });
});

test("what is said meanwhile goes with the next call", async () => {
  const { engine, post } = await openWorld();
  const session = await engine.open();
  const call = await session.prepare("Why is CI red?");
  const { toolUses } = await session.record(call, await post(call), { steer: "Be brief." });
  const next = await session.prepare([{ toolUseId: toolUses[0]?.id ?? "", content: "red" }]);
  expect(bodyText(next.request.pieces)).toContain("Be brief.");
});

const eager = {
  ...defaultCompactionSettings,
  isEnabled: true,
  timing: "at once" as const,
  tailTurnsMin: 1,
  tailKeepTokens: 1_000,
};
const answers = Array.from({ length: 9 }, (_, index) => ({ text: `Answer ${index}. `.repeat(50) }));

async function talk(session: EngineSession, post: World["post"], turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    const call = await session.prepare(`Question ${turn}: ${"more of it ".repeat(800)}`);
    await session.record(call, await post(call));
  }
}

test("a prompt that is refused as too long is folded, and sent again in the same turn", async () => {
  const { engine, ledger, post, simulator } = await openWorld({
    script: answers,
    config: { compaction: eager },
  });
  const session = await engine.open({ id: "own" });
  await talk(session, post, 6);
  const call = await session.prepare("And now?");
  simulator.fault({ kind: "overflow" });
  const refused = await session.record(call, await post(call));
  expect([refused.entry.failure?.kind, refused.run]).toEqual(["context-overflow", null]);
  const shorter = await session.prepare([]);
  expect(shorter.request.byteLength).toBeLessThan(call.request.byteLength);
  expect((await session.record(shorter, await post(shorter))).run?.end).toBe("done");
  expect(await ledger.readCompactions("own")).toHaveLength(1);
  expect(await problemsOf(ledger)).toEqual([]);
});

test("summaries are sent by the engine's own provider, not handed to the application", async () => {
  let summaries = 0;
  const provider: typeof sendsNothing = {
    send: (call) => {
      summaries += 1;
      return sendsNothing.send(call);
    },
  };
  const { engine, post } = await openWorld({
    script: answers,
    config: { compaction: { ...eager, compactAtShare: 0.01 } },
    deps: { reach: () => ({ protocol: anthropicMessages, provider }) },
  });
  const session = await engine.open();
  await talk(session, post, 6);
  expect(summaries).toBeGreaterThan(0);
  const call = await session.prepare("And now?");
  expect(bodyText(call.request.pieces)).toContain("And now?");
});
