import { expect, test } from "vitest";
import type { CallEntry } from "../ledger/call-entry.ts";
import { noUsage } from "../message/usage.ts";
import { toCancelled, toFailed, toTurnSums } from "./turn-payloads.ts";

const startMs = 1_800_000_000_000;

function entry(more: Partial<CallEntry>): CallEntry {
  return {
    turnId: "turn-1",
    number: 1,
    startMs,
    endMs: startMs + 5,
    model: "claude-sonnet-4-6",
    policy: "adaptive",
    promptKey: "",
    plan: {
      markers: [],
      requestMarker: null,
      mode: null,
      cacheKey: null,
      expected: {
        hitBlock: null,
        hit: null,
        spanEnds: {},
        refreshed: [],
        written: [],
        readTokens: 0,
        writeTokens: {},
        uncachedTokens: 0,
        costPicoUsd: null,
      },
      dropped: [],
      keepWarm: { pays: false, afterMs: null, gainTokens: 0, reason: "" },
    },
    status: "failed",
    stopReason: null,
    usage: null,
    discarded: [],
    costPicoUsd: null,
    failure: { kind: "overloaded", detail: "529", retryAfterMs: undefined },
    verdict: null,
    refuted: [],
    notes: [],
    sent: [],
    reply: null,
    ...more,
  };
}

const replied: Partial<CallEntry> = {
  status: "complete",
  reply: { role: "assistant", content: [] },
};

test.each<[string, readonly Partial<CallEntry>[], string | null]>([
  ["nothing, where nothing was billed", [{}], "0"],
  [
    "what the call after a refused one costs",
    [{}, { ...replied, costPicoUsd: 105_000_000n }],
    "0.000105",
  ],
  ["what is known", [replied, { ...replied, costPicoUsd: 105_000_000n }], "0.000105"],
  ["what is not known", [replied, {}], null],
  ["what is not known of attempts that came to nothing", [{ discarded: [noUsage] }], null],
])("a turn is told to cost %s", (_name, calls, usd) => {
  expect(toTurnSums(calls.map(entry), startMs).total_cost_usd).toBe(usd);
});

test("a turn took no time, where the clock was set back", () => {
  expect(toTurnSums([entry({})], startMs - 3_600_000).wall_time_seconds).toBe(0);
});

test("retries are counted as such, whatever was billed", () => {
  expect(toFailed(entry({ attemptCount: 4 })).retry_count).toBe(3);
  expect(toFailed(entry({ discarded: [noUsage, noUsage] })).retry_count).toBe(0);
});

test.each([
  ["a time limit is over", new DOMException("over", "TimeoutError"), "timeout"],
  ["whoever asked has gone", new Error("client_disconnect"), "client_disconnect"],
  ["somebody stops it", new Error("aborted"), "user_cancel"],
  ["nobody says why", undefined, "user_cancel"],
])("where %s, that is why the turn was cancelled", (_name, reason, told) => {
  expect(toCancelled(toTurnSums([], startMs), reason).reason).toBe(told);
});
