import { describe, expect, test } from "vitest";
import type { CallEntry } from "../ledger/call-entry.ts";
import { nextStep } from "./next-step.ts";
import type { Stage, Turn } from "./turn.ts";
import {
  asks,
  callWith,
  entryWith,
  failedWith,
  overflow,
  said,
  sessionWith,
  turnWith,
  use,
} from "./test-kit.ts";

const call = callWith();
/** More than any window holds. */
const long = callWith(10_000_000);
/** So long that an estimate may be on the wrong side of the guard. */
const near = callWith(950_000);
const moment = { nowMs: 5, volatile: null };
const canCount = { compaction: {}, canCount: true };
const { before } = turnWith();

test.each<[string, Stage, Partial<Turn>, string]>([
  ["begins", { after: "begin" }, {}, "refresh"],
  ["knows its moment", { after: "refresh", moment }, {}, "prepare"],
  ["has a prompt that is not recorded", { after: "prepare", call }, {}, "record"],
  ["has a prompt that is recorded", { after: "prepare", call }, { isStored: true }, "send"],
  ["recorded what it sends", { after: "record", call }, {}, "send"],
  ["may be near a limit", { after: "record", call: near }, { rules: canCount }, "count"],
  ["is near a limit that nobody counts", { after: "record", call: near }, {}, "send"],
  ["does not fit", { after: "record", call: long }, {}, "compact"],
  ["does not fit as counted", { after: "count", call: long }, { rules: canCount }, "compact"],
  ["fits as counted", { after: "count", call }, { rules: canCount }, "send"],
  ["was compacted once", { after: "record", call: long }, { isCompacted: true }, "send"],
  [
    "must not be compacted",
    { after: "record", call: long },
    { limits: { callsMax: 5, mayCompact: false, repeatsFailedCalls: false } },
    "send",
  ],
  ["was compacted just now", { after: "compact", moment, volatile: null }, {}, "prepare"],
  ["has its final prompt", { after: "settle prompt", call: long }, {}, "send"],
  [
    "has a reply",
    { after: "send", sent: { call, entry: entryWith(), more: {}, miss: null, session: before } },
    {},
    "record reply",
  ],
  ["is at its end", { after: "end", how: "failed" }, {}, "close"],
])("a turn that %s is followed by the right step", (_name, at, more, step) => {
  expect(nextStep(turnWith({ at, ...more })).do).toBe(step);
});

describe("after a recorded reply", () => {
  // oxlint-disable-next-line unicorn/consistent-function-scoping
  const after = (last: Partial<CallEntry>, more: Partial<Turn> = {}): string => {
    const turn = turnWith({
      at: { after: "record reply", call },
      calls: [entryWith(last)],
      ...more,
    });
    const step = nextStep(turn);
    return step.do === "close" ? `close: ${step.how}` : step.do;
  };
  const words = [said("user", "One more thing.")];
  const atLimit = { callsMax: 1, mayCompact: true, repeatsFailedCalls: false };
  const twice = { earlier: [entryWith(failedWith(overflow))], isStored: true };
  const tired = { kind: "overloaded", detail: "", retryAfterMs: undefined } as const;

  test.each<[string, Partial<CallEntry>, Partial<Turn>, string]>([
    ["that ends", {}, {}, "close: done"],
    ["that ends while something was said", {}, { steered: words }, "refresh"],
    ["in the last call, whatever was said", {}, { steered: words, limits: atLimit }, "close: done"],
    ["that pauses", { stopReason: "pause_turn" }, {}, "refresh"],
    [
      "that pauses in the last call",
      { stopReason: "pause_turn" },
      { limits: atLimit },
      "close: too many calls",
    ],
    ["that asks for tools", asks, {}, "run tools"],
    [
      "that is cut off in a tool use",
      { ...asks, stopReason: "max_tokens" },
      { steered: words },
      "close: cut off",
    ],
    ["of a provider that is down", failedWith(tired), { steered: words }, "switch model"],
    ["that broke off", { status: "partial", failure: tired }, {}, "switch model"],
    ["that failed in the last call", failedWith(tired), { limits: atLimit }, "close: failed"],
    ["that failed after an abort", failedWith(tired), { aborted: { reason: "" } }, "close: failed"],
    ["that was refused", failedWith({ kind: "invalid-request", detail: "" }), {}, "close: failed"],
    [
      "that failed in the application's own loop",
      failedWith(tired),
      { limits: { callsMax: 9, mayCompact: false, repeatsFailedCalls: true } },
      "close: failed",
    ],
    ["that was cancelled", failedWith({ kind: "cancelled", detail: "" }), {}, "close: cancelled"],
    ["that was too long", failedWith(overflow), {}, "compact"],
    ["that broke off as too long", { status: "partial", failure: overflow }, {}, "compact"],
    ["that was too long again", failedWith(overflow), twice, "close: failed"],
    [
      "that was too long in the last call",
      failedWith(overflow),
      { limits: atLimit },
      "close: failed",
    ],
  ])("%s, the turn goes on as it must", (_name, last, more, step) => {
    expect(after(last, more)).toBe(step);
  });

  test("of another process that was too long, the prompt is made again first", () => {
    const at = { after: "record reply", call: null } as const;
    const earlier = [entryWith(failedWith(overflow))];
    expect(nextStep(turnWith({ at, earlier, isStored: true })).do).toBe("refresh");
    const made = { at: { after: "prepare", call } as const, earlier, isStored: true };
    expect(nextStep(turnWith(made))).toMatchObject({ do: "compact", trigger: "overflow" });
    expect(nextStep(turnWith({ ...made, isCompacted: true })).do).toBe("send");
  });

  test("a failed call is sent again where the application does that, except the first", () => {
    const limits = { callsMax: 5, mayCompact: false, repeatsFailedCalls: true };
    expect(after(failedWith(tired), { limits })).toBe("close: failed");
    expect(after(failedWith(tired), { limits, earlier: [entryWith(asks)] })).toBe("refresh");
  });
});

test("a turn makes no more calls than it may, whoever made them", () => {
  const calls = [entryWith(asks), entryWith(asks)];
  const earlier = [entryWith(asks), entryWith(asks), entryWith(asks)];
  const turn = turnWith({ at: { after: "begin" }, calls, earlier });
  expect(nextStep(turn)).toEqual({ do: "close", how: "too many calls" });
  expect(nextStep({ ...turn, calls: calls.slice(1) }).do).toBe("refresh");
});

test("the turn is opened with its first call only", () => {
  const at = { after: "prepare", call } as const;
  expect(nextStep(turnWith({ at }))).toMatchObject({ do: "record", opens: true });
  expect(nextStep(turnWith({ at, calls: [entryWith(asks)] }))).toMatchObject({ opens: false });
  expect(nextStep(turnWith({ at, resumed: { toolCalls: 0 } }))).toMatchObject({ opens: false });
});

test("a call has the number after the last recorded one", () => {
  const at = { after: "settle prompt", call } as const;
  const turn = turnWith({ at, earlier: [entryWith(asks)], calls: [entryWith(asks)] });
  expect(nextStep(turn)).toMatchObject({ do: "send", number: 3 });
});

test("tools run in the order they were asked for", () => {
  const uses = [use, { ...use, id: "use-2" }];
  const last = entryWith({ stopReason: "tool_use", reply: { role: "assistant", content: uses } });
  const turn = turnWith({ at: { after: "record reply", call }, calls: [last] });
  expect(nextStep(turn)).toEqual({ do: "run tools", uses });
});

describe("the moment is said", () => {
  // oxlint-disable-next-line unicorn/consistent-function-scoping
  const says = (more: Partial<Turn>): boolean => {
    const step = nextStep(turnWith({ at: { after: "begin" }, ...more }));
    return step.do === "refresh" && step.volatile;
  };
  test.each<[string, Partial<Turn>, boolean]>([
    ["with what is new", {}, true],
    ["not where the application says it", { event: { ...turnWith().event, moment: null } }, false],
    ["not with nothing new", { current: [] }, false],
    ["again with what is stored and was not sent", { isStored: true }, true],
    [
      "not again where it stands at the head of what is stored",
      { isStored: true, session: sessionWith("nexus") },
      false,
    ],
  ])("%s", (_name, more, isSaid) => {
    expect(says(more)).toBe(isSaid);
  });
});
