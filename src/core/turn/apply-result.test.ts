import { describe, expect, test } from "vitest";
import { itemsOf } from "../growing/growing-list.ts";
import type { Section } from "../layers/section.ts";
import { applyResult } from "./apply-result.ts";
import { nextStep } from "./next-step.ts";
import type { Input, Result } from "./step.ts";
import type { CallMoment, Turn } from "./turn.ts";
import { newsOf } from "./turn-events.ts";
import {
  compaction,
  asked,
  asks,
  callWith,
  entryWith,
  failedWith,
  found,
  noon,
  noonIso,
  overflow,
  preparedFor,
  replyOf,
  said,
  sessionWith,
  turnWith,
} from "./test-kit.ts";

const call = callWith();
const rules = { compaction: {}, canCount: false };
const words = said("user", "One more thing.");

function refreshedBy(volatile: readonly Section[] | null): Result {
  return { did: "refresh", session: sessionWith(), rules, nowMs: noon, nowIso: noonIso, volatile };
}

function sentBy(outcome: Extract<Result, { did: "send" }>["sent"]["outcome"]): Result {
  return { did: "send", sent: { outcome, attempts: [] }, notes: [], startMs: noon, endMs: noon };
}

function after(turn: Turn, ...inputs: readonly Input[]): Turn {
  return inputs.reduce(applyResult, turn);
}

function momentOf({ at }: Turn): CallMoment | null {
  return at.after === "refresh" ? at.moment : null;
}

describe("refreshing", () => {
  test("says the time with the event, and not again within a minute", () => {
    const first = after(turnWith(), refreshedBy([]));
    expect(momentOf(first)?.volatile?.map(({ text }) => text)).toEqual([
      `Current time: ${noonIso}\nTimezone: UTC`,
    ]);
    expect(first.event.timeSentMs).toBe(noon);
    expect(momentOf(after(first, refreshedBy([])))?.volatile).toEqual([]);
  });

  test("takes what was said as what the next call sends, once the last reply asks for nothing", () => {
    const turn = turnWith({
      at: { after: "record reply", call },
      calls: [entryWith()],
      current: [],
      steered: [words],
    });
    const next = after(turn, refreshedBy(null));
    expect([next.current, next.steered, next.isStored]).toEqual([[words], [], false]);
  });

  test("keeps what was said for later where something else is to be sent", () => {
    const next = after(turnWith({ steered: [words], isStored: true }), refreshedBy(null));
    expect([next.current, next.steered, next.isStored]).toEqual([[asked], [words], true]);
  });
});

test("what is said meanwhile waits, in order", () => {
  const other = said("user", "And this.");
  const turn = after(
    turnWith(),
    { did: "steer", messages: [words] },
    { did: "steer", messages: [other] },
  );
  expect([turn.steered, turn.current]).toEqual([[words, other], [asked]]);
});

test("the first reason to stop is the one that counts", () => {
  const turn = after(turnWith(), { did: "abort", reason: 1 }, { did: "abort", reason: 2 });
  expect(turn.aborted).toEqual({ reason: 1 });
});

test("a call that is recorded announces the turn once", () => {
  const start = turnWith({ at: { after: "prepare", call } });
  const turn = after(start, { did: "record" });
  expect([turn.isStored, turn.isAnnounced]).toEqual([true, true]);
  const news = newsOf(start, turn);
  expect(news.map(({ type }) => type)).toEqual(["turn.started", "route.decided"]);
  expect(newsOf(turn, after(turn, { did: "record" }))).toEqual([]);
});

test("a count takes the place of the estimate", () => {
  const turn = after(turnWith({ at: { after: "record", call } }), { did: "count", tokens: 777 });
  expect(turn.at).toMatchObject({
    after: "count",
    call: { prepared: { promptTokens: 777, countedTokens: 777 } },
  });
});

describe("a reply", () => {
  const sending = turnWith({ at: { after: "settle prompt", call }, isStored: true });

  test("joins the conversation once it is recorded, and nothing waits to be sent", () => {
    const reply = replyOf(said("assistant", "Done."));
    const sent = after(sending, sentBy(reply));
    expect(sent.session.thread.messages.length).toBe(0);
    const turn = after({ ...sent, isCompacted: true }, { did: "record reply" });
    expect([...itemsOf(turn.session.thread.messages)]).toEqual([asked, reply.message]);
    expect([turn.current, turn.isStored, turn.isCompacted]).toEqual([[], false, false]);
    expect(turn.calls.map(({ number, status }) => [number, status])).toEqual([[1, "complete"]]);
  });

  test.each([
    ["failed", overflow],
    ["broke off", replyOf(said("assistant", "Do"), { status: "partial" })],
  ])("that %s is recorded, and what it sent waits to be sent again", (_name, outcome) => {
    const turn = after(sending, sentBy(outcome), { did: "record reply" });
    expect([turn.current, turn.isStored, turn.calls.length]).toEqual([[asked], true, 1]);
    expect(turn.session.thread.messages.length).toBe(0);
  });
});

describe("answers of tools", () => {
  const asking = turnWith({
    at: { after: "record reply", call },
    current: [],
    calls: [entryWith(asks)],
  });

  test("are sent next, and what was said goes behind them", () => {
    const turn = after({ ...asking, steered: [words] }, { did: "run tools", answers: [found] });
    expect([turn.current, turn.steered, turn.isStored]).toEqual([[found, words], [], false]);
    expect(turn.at).toEqual({ after: "begin" });
  });

  test("are sent without it where no call may follow", () => {
    const limits = { callsMax: 1, mayCompact: true, repeatsFailedCalls: false };
    const turn = after(
      { ...asking, limits, steered: [words] },
      { did: "run tools", answers: [found] },
    );
    expect([turn.current, turn.steered]).toEqual([[found], [words]]);
  });
});

describe("a compaction", () => {
  const memory: Section = { name: "note", layer: "memory", stability: "turn", text: "Noted." };
  const event: Section = { name: "event", layer: "event", stability: "turn", text: "Now." };
  const moment: CallMoment = { nowMs: noon, volatile: [event, memory] };
  const tried = turnWith({
    at: { after: "record", call: { moment, prepared: preparedFor(sessionWith()) } },
    isStored: true,
  });
  const session = sessionWith();
  const done: Result = {
    did: "compact",
    outcome: { kind: "compacted", session, before: session, current: [asked], compaction },
  };
  const toNothing = (isTight: boolean): Result => {
    return { did: "compact", outcome: { kind: "unchanged", session, isTight } };
  };
  const tooLong = {
    ...tried,
    calls: [entryWith(failedWith(overflow))],
    at: { after: "record reply", call: { moment, prepared: preparedFor(session) } } as const,
  };

  test("is followed by the prompt without memory, and by no other one", () => {
    const turn = after(tried, done);
    expect(turn.at).toEqual({ after: "compact", moment, volatile: [event] });
    expect([turn.isCompacted, turn.isStored]).toEqual([true, true]);
  });

  test("that came to nothing leaves the prompt as it is", () => {
    expect(after(tried, toNothing(false)).at).toMatchObject({ after: "settle prompt" });
  });

  test("that came to nothing where nothing fits makes memory leave", () => {
    const turn = after(tried, toNothing(true));
    expect(turn.at).toEqual({ after: "compact", moment, volatile: [event] });
    expect(turn.isCompacted).toBe(false);
  });

  test("after an overflow is followed by another call, in a resumed turn too", () => {
    expect(after(tooLong, done).at).toEqual({ after: "begin" });
    const { calls: earlier, ...rest } = tooLong;
    const resumed = { ...rest, calls: [], earlier, at: tried.at };
    expect(after(resumed, done).at).toEqual({ after: "begin" });
  });

  test("after an overflow that came to nothing ends the turn", () => {
    expect(nextStep(after(tooLong, toNothing(false)))).toEqual({ do: "close", how: "failed" });
  });
});

test("news of one result are not told again with the next", () => {
  const turn = after(turnWith({ at: { after: "prepare", call } }), { did: "record" });
  expect(newsOf(turn, after(turn, { did: "steer", messages: [words] }))).toEqual([]);
});
