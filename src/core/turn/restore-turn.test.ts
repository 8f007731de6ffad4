import { describe, expect, test } from "vitest";
import { itemsOf } from "../growing/growing-list.ts";
import type { CallRecord } from "../ledger/call-entry.ts";
import type { LeftInTurn, ThreadMessage } from "../ledger/turn-record.ts";
import type { Message } from "../message/message.ts";
import { toStateText } from "../session/session-state.ts";
import type { Session } from "../session/session.ts";
import { nextStep } from "./next-step.ts";
import { restoreTurn, type RecordedTurn } from "./restore-turn.ts";
import {
  asked,
  asks,
  entryWith,
  failedWith,
  found,
  noon,
  noonIso,
  overflow,
  said,
  sessionWith,
  turnWith,
  use,
} from "./test-kit.ts";
import type { Turn } from "./turn.ts";

const asking: Message = { role: "assistant", content: [use] };
const done = said("assistant", "Done.");

/** Messages by the call that sent them or whose reply they are. */
function rowsOf(
  ...messages: readonly (readonly [call: number, message: Message])[]
): ThreadMessage[] {
  return messages.map(([callNumber, message], index) => ({
    turnId: "turn-1",
    model: "claude-sonnet-4-6",
    provider: "anthropic",
    index,
    callNumber,
    message,
    tokens: 1,
    source: null,
    contextJson: null,
    hash: "",
    isReplayed: true,
    wholeHash: null,
    messageId: null,
    createdMs: null,
  }));
}

function callOf(number: number, more: Parameters<typeof entryWith>[0] = {}): CallRecord {
  const {
    sent: _sent,
    reply: _reply,
    ...call
  } = entryWith({ number, startMs: noon + number, ...more });
  return call;
}

function restore(more: Partial<RecordedTurn>, before: Session = sessionWith()): Turn {
  const recorded = {
    turn: { id: "turn-1", startMs: noon, sourceEventId: null, switches: [] },
    messages: rowsOf([1, asked]),
    calls: [],
    compaction: null,
    toolCalls: [],
    compactions: [],
    stateJson: null,
    ...more,
  };
  return restoreTurn(before, recorded, { moment: {}, callsMax: 5, nowIso: noonIso });
}

function leftAfter(through: number): LeftInTurn {
  return { through, model: "one", provider: "garage", name: "garage/one" };
}

/** What it waits with, what it has said so far, and what comes next. */
function lookAt(turn: Turn): readonly [readonly Message[], readonly Message[], string] {
  const step = nextStep(turn);
  const next = step.do === "close" ? `close: ${step.how}` : step.do;
  return [turn.current, [...itemsOf(turn.session.thread.messages)], next];
}

const calls1 = [callOf(1, asks)];
const asked1 = [
  [1, asked],
  [1, asking],
] as const;
const tooLong = failedWith(overflow);

test.each<[string, Partial<RecordedTurn>, readonly Message[], readonly Message[], string]>([
  ["was opened and sent nothing", {}, [asked], [], "refresh"],
  [
    "has a reply",
    { messages: rowsOf([1, asked], [1, done]), calls: [callOf(1)] },
    [],
    [asked, done],
    "close: done",
  ],
  [
    "was asked for tools",
    { messages: rowsOf(...asked1), calls: calls1 },
    [],
    [asked, asking],
    "run tools",
  ],
  [
    "has answers of tools",
    { messages: rowsOf(...asked1, [2, found]), calls: calls1 },
    [found],
    [asked, asking],
    "refresh",
  ],
  ["was too long", { calls: [callOf(1, tooLong)] }, [asked], [], "refresh"],
  [
    "was too long again",
    { calls: [callOf(1, tooLong), callOf(2, tooLong)] },
    [asked],
    [],
    "close: failed",
  ],
  [
    "was refused",
    { calls: [callOf(1, failedWith({ kind: "invalid-request", detail: "" }))] },
    [asked],
    [],
    "close: failed",
  ],
  [
    "met a provider that is down",
    { calls: [callOf(1, failedWith({ kind: "unreachable", detail: "" }))] },
    [asked],
    [],
    "switch model",
  ],
  [
    "left its model for another one",
    {
      turn: { id: "turn-1", startMs: noon, sourceEventId: null, switches: [leftAfter(1)] },
      calls: [callOf(1, failedWith({ kind: "unreachable", detail: "" }))],
    },
    [asked],
    [],
    "refresh",
  ],
  [
    "met another provider that is down",
    {
      turn: { id: "turn-1", startMs: noon, sourceEventId: null, switches: [leftAfter(1)] },
      calls: [
        callOf(1, failedWith({ kind: "unreachable", detail: "" })),
        callOf(2, failedWith({ kind: "billing", detail: "" })),
      ],
    },
    [asked],
    [],
    "switch model",
  ],
])("a turn that %s goes on from there", (_name, more, current, sent, next) => {
  expect(lookAt(restore(more))).toEqual([current, sent, next]);
});

test("a turn that left its model tells so, and who it was", () => {
  const turn = { id: "turn-1", startMs: noon, sourceEventId: null, switches: [leftAfter(1)] };
  const calls = [callOf(1, failedWith({ kind: "unreachable", detail: "" }))];
  expect(restore({ turn, calls })).toMatchObject({
    isRouteNews: true,
    switches: [leftAfter(1)],
    route: {
      by: "fallback",
      passedOver: [{ name: "garage/one", reason: "provider_failed" }],
      left: { model: "one" },
    },
  });
  const answered = [...calls, callOf(2)];
  expect(restore({ turn, calls: answered })).toMatchObject({ isRouteNews: false });
});

test("what was kept of a reply that broke off is not sent again", () => {
  const messages = rowsOf([1, asked], [1, said("assistant", "Do")]).map((row) => ({
    ...row,
    isReplayed: row.index === 0,
  }));
  const turn = restore({ messages, calls: [callOf(1, { status: "partial", failure: overflow })] });
  expect([turn.current, turn.isStored]).toEqual([[asked], true]);
});

test("a paused call that was too long is sent again as it was: nothing new goes with it", () => {
  const messages = rowsOf([1, asked], [1, done]);
  const calls = [callOf(1, { stopReason: "pause_turn" }), callOf(2, tooLong)];
  const turn = restore({ messages, calls });
  expect([turn.current, turn.isStored]).toEqual([[], true]);
});

describe("a compaction", () => {
  const compactionState = { ...sessionWith().compactionState, folds: 1 };
  const compacted = (callsSinceFold: number): Session => ({
    ...sessionWith(),
    compactionState: { ...compactionState, callsSinceFold },
  });
  const compaction = { firstKeptTurnId: "turn-1", firstKeptIndex: 2, compactedMs: noon };

  test("says what it hides of the turn", () => {
    const messages = rowsOf(...asked1, [2, found], [2, done]);
    const calls = [callOf(1, asks), callOf(2)];
    expect(lookAt(restore({ messages, calls, compaction }, compacted(1)))).toEqual([
      [],
      [found, done],
      "close: done",
    ]);
  });

  test.each([
    ["after an overflow", 0, [callOf(1, tooLong)], noon, true],
    ["before the first call", 0, [], noon, true],
    ["before the turn", 0, [], noon - 1, false],
    ["before the last call", 1, [callOf(1, tooLong)], noon, false],
  ])("%s is known from the ledger", (_name, since, calls, compactedMs, isCompacted) => {
    const made = { ...compaction, firstKeptIndex: 0, compactedMs };
    expect(restore({ calls, compaction: made }, compacted(since)).isCompacted).toBe(isCompacted);
  });
});

describe("the time was told", () => {
  test.each<[string, Partial<RecordedTurn>, number | null]>([
    ["by no call yet", {}, null],
    [
      "by the last call that was answered",
      { calls: [callOf(1, asks), callOf(2, tooLong)] },
      noon + 1,
    ],
    ["by no call that was too long", { calls: [callOf(1, tooLong)] }, null],
  ])("%s", (_name, more, timeSentMs) => {
    expect(restore(more).event.timeSentMs).toBe(timeSentMs);
  });

  test("at the head of the message that is recorded", () => {
    expect(restore({}, sessionWith("nexus")).event.timeSentMs).toBe(noon);
  });

  test("as it was where it stands before the messages", () => {
    const contextJson = JSON.stringify({ injectedAt: "2027-01-15T07:00:00.000Z" });
    const messages = rowsOf([1, asked]).map((row) => ({ ...row, contextJson }));
    expect(restore({ messages }, sessionWith("metis")).event.startIso).toBe(
      "2027-01-15T07:00:00.000Z",
    );
    expect(restore({ messages }).event.startIso).toBe(noonIso);
  });
});

test("volatile text that a call of the turn kept is not said again", () => {
  const { session } = turnWith();
  const thread = { ...session.thread, keptVolatile: "Platform: terminal" };
  const kept = (turnId: string): Turn =>
    restore({ calls: calls1, stateJson: toStateText({ ...session, thread }, turnId) });
  expect(kept("turn-1").session.thread.keptVolatile).toBe("Platform: terminal");
  expect(kept("turn-0").session.thread.keptVolatile).toBe(null);
});

test("tools that ran before keep their times and the sessions that they started; a refused one ran at no time", () => {
  const about = { turnId: "turn-1", callNumber: 1, status: "succeeded" as const, position: 0 };
  const links = { inputJson: "{}", messageId: null, resultMessageId: null };
  const ran = { startMs: noon + 2, endMs: noon + 5 };
  const toolCalls = [
    { ...about, ...links, ...ran, toolUseId: "u1", name: "read", spawnedSessionId: null },
    { ...about, ...links, ...ran, toolUseId: "u2", name: "delegate", spawnedSessionId: "worker" },
    {
      ...about,
      ...links,
      toolUseId: "u3",
      name: "bash",
      startMs: null,
      endMs: noon + 5,
      spawnedSessionId: null,
    },
  ];
  expect(restore({ calls: calls1, toolCalls }).toolRuns).toEqual([
    { toolUseId: "u1", name: "read", callNumber: 1, ...ran },
    { toolUseId: "u2", name: "delegate", callNumber: 1, ...ran, spawnedSessionId: "worker" },
  ]);
});
