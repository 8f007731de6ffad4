import { expect, test } from "vitest";
import { withMoneyAsText } from "../models/pico-usd.ts";
import { toTurnCompaction } from "./done-in-turn.ts";
import {
  asked,
  asks,
  compaction,
  entryWith,
  failedWith,
  found,
  noon,
  overflow,
  said,
  sessionWith,
  turnWith,
} from "./test-kit.ts";
import { toTurnResult, type TurnOutcome, type TurnResult } from "./turn-result.ts";
import type { Turn } from "./turn.ts";

const usage = {
  uncachedTokens: 10,
  cacheReadTokens: 90,
  cacheWriteTokens: { "5m": 20 },
  outputTokens: 5,
  reasoningTokens: 1,
};

const first = withMoneyAsText(
  entryWith({ ...asks, sent: [asked], usage, costPicoUsd: 3_000_000n, endMs: noon + 5 }),
);
const second = withMoneyAsText(
  entryWith({ number: 2, sent: [found], usage, costPicoUsd: 4_000_000n }),
);

function resultOf(turn: Partial<Turn>, outcome: Partial<TurnOutcome> = {}): TurnResult {
  const session = sessionWith();
  const ended = { how: "done" as const, endMs: noon + 900, session, unsaid: undefined, ...outcome };
  return toTurnResult(turnWith(turn), ended);
}

test("X-08: messages, tool calls, usage, cost, stop, time and compactions of the whole turn, also of calls before a crash", () => {
  const toolRuns = [
    { toolUseId: "use-1", name: "read", callNumber: 1, startMs: noon + 6, endMs: noon + 9 },
  ];
  const compactions = [toTurnCompaction(compaction)];
  const result = resultOf({ earlier: [first], calls: [second], toolRuns, compactions });
  expect(result).toMatchObject({
    turnId: "turn-1",
    end: "done",
    stopReason: "end_turn",
    error: null,
    messages: [
      { ...asked, sequence: 0, callNumber: 1, createdMs: noon },
      { role: "assistant", sequence: 1, callNumber: 1, createdMs: noon + 5 },
      { ...found, sequence: 2, callNumber: 2 },
      { ...said("assistant", "Done."), sequence: 3, callNumber: 2 },
    ],
    toolCalls: [
      {
        toolUseId: "use-1",
        name: "read",
        inputJson: "{}",
        callNumber: 1,
        status: "succeeded",
        result: found.content[0],
        startMs: noon + 6,
        endMs: noon + 9,
      },
    ],
    usage: { uncachedTokens: 20, cacheReadTokens: 180, cacheWriteTokens: { "5m": 40 } },
    costPicoUsd: 7_000_000n,
    startMs: noon,
    durationMs: 900,
    compactions: [{ turnId: "compaction-1", trigger: "context_limit", tokensBefore: 900 }],
  });
  expect(result.calls).toEqual([first, second]);
});

test("X-08: it survives JSON.stringify, without the session and with money as text", () => {
  const compactions = [toTurnCompaction(compaction)];
  const result = resultOf({ calls: [first, second], compactions });
  const read: unknown = JSON.parse(JSON.stringify(result));
  expect(read).toMatchObject({
    costPicoUsd: "7000000",
    calls: [{ costPicoUsd: "3000000" }, { costPicoUsd: "4000000" }],
    compactions: [{ costPicoUsd: "5000" }],
    toolCalls: [{ status: "succeeded" }],
  });
  expect(read).not.toHaveProperty("session");
  expect(result.session.id).toBe("session");
});

test("what a call sent that came to nothing counts once, with the call that was answered", () => {
  const tooLong = entryWith({ ...failedWith(overflow), sent: [asked] });
  const again = entryWith({ number: 2, sent: [asked] });
  const { messages } = resultOf({ calls: [tooLong, again] });
  expect(messages.map(({ callNumber, role }) => `${callNumber} ${role}`)).toEqual([
    "2 user",
    "2 assistant",
  ]);
});

test("a failed turn has its kind of error and what it asked; a tool whose result was not sent any more still has it", () => {
  const failure = { kind: "rate-limited", detail: "slow down", retryAfterMs: undefined } as const;
  const failed = entryWith({ ...failedWith(failure), sent: [asked] });
  expect(resultOf({ calls: [failed] }, { how: "failed" })).toMatchObject({
    stopReason: "error",
    error: { kind: "rate_limit", message: "slow down", isRetryable: true },
    messages: [asked],
  });
  const unsent = resultOf({ calls: [first], current: [found] }, { how: "too many calls" });
  expect(unsent).toMatchObject({
    stopReason: "tool_use",
    error: { kind: "model_error", message: "too many calls", isRetryable: false },
    toolCalls: [{ status: "succeeded", result: found.content[0] }],
  });
});

test("a cancelled turn says whether its time was up; a tool that did not run is cancelled", () => {
  const timeUp = new DOMException("signal timed out", "TimeoutError");
  const { stopReason, error, toolCalls } = resultOf(
    { calls: [first], current: [], aborted: { reason: timeUp } },
    { how: "cancelled" },
  );
  expect([stopReason, error, toolCalls[0]?.status]).toEqual(["timeout", null, "cancelled"]);
  expect(resultOf({ aborted: { reason: "stop" } }, { how: "cancelled" }).stopReason).toBe(
    "aborted",
  );
});
