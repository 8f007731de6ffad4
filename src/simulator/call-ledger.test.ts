import { expect, test } from "vitest";
import type { Reason } from "./billing/bill.ts";
import { describeCall, describeReason, toCallView, type Call } from "./call-ledger.ts";

const call: Call = {
  number: 7,
  startMs: 1000,
  method: "POST",
  path: "/v1/messages",
  surface: "anthropic",
  workspace: "wrkspc_1",
  status: 200,
  outcome: "answered",
  fault: null,
  refusal: null,
  problem: null,
  billed: {
    surface: "anthropic",
    model: "claude-sonnet-5-5",
    startMs: 1000,
    outputTokens: 50,
    reasoningTokens: 20,
    costUsd: "$0.01",
    stopReason: "end_turn",
    bill: {
      requestId: "req_2",
      totalTokens: 1000,
      readTokens: 600,
      writeTokens: { "5m": 100, "1h": 200 },
      uncachedTokens: 100,
      hitBlock: 3,
      markers: [],
      reason: { kind: "hit", writtenBy: "req_1", lifetime: "1h" },
    },
  },
};

test("a call is one line with tokens, dollars and the reason", () => {
  expect(describeCall(call)).toBe(
    "#7 POST /v1/messages 200  claude-sonnet-5-5  read 600, written 100 for 5m + 200 for 1h, fresh 100, out 50  $0.01  read what req_1 wrote for 1h",
  );
});

test.each<[Partial<Call>, string]>([
  [{ billed: null }, "nothing is billed here"],
  [{ billed: null, status: 400, refusal: "max_tokens: required" }, "refused: max_tokens: required"],
  [
    { billed: null, fault: "overloaded", refusal: "Overloaded" },
    "fault: overloaded; refused: Overloaded",
  ],
  [{ fault: "cut", outcome: "cut" }, "read what req_1 wrote for 1h; fault: cut"],
  [{ outcome: "left" }, "read what req_1 wrote for 1h; the client left"],
  [{ problem: "the script has no step left", status: 500 }, "the script has no step left"],
])("a call that went otherwise says so: %o", (change, why) => {
  expect(toCallView({ ...call, ...change })).toMatchObject({ why });
});

test("the ledger shows every bucket", () => {
  expect(toCallView(call)).toMatchObject({
    number: 7,
    model: "claude-sonnet-5-5",
    tokens: {
      total: 1000,
      read: 600,
      written: { "5m": 100, "1h": 200 },
      uncached: 100,
      output: 50,
      reasoning: 20,
    },
    costUsd: "$0.01",
    hitBlock: 3,
  });
  expect(toCallView({ ...call, billed: null })).toMatchObject({ tokens: null, costUsd: null });
});

test.each<[Reason, string]>([
  [{ kind: "hit", writtenBy: "r", lifetime: null }, "read what r wrote"],
  [{ kind: "no marker" }, "nothing asked for caching"],
  [{ kind: "below the minimum", minimumTokens: 512 }, "shorter than the minimum of 512 tokens"],
  [{ kind: "never written" }, "no earlier request wrote a prefix of this one"],
  [{ kind: "expired", block: 2, agoMs: 1500 }, "what was written up to block 2 expired 1.5 s ago"],
  [
    { kind: "not readable yet", block: 2, writtenBy: "r" },
    "r wrote up to block 2, but its response has not begun",
  ],
  [
    { kind: "beyond lookback", block: 2 },
    "an entry ends at block 2, further back than any marker looks",
  ],
  [{ kind: "stored prefix", name: "cachedContents/a", isRead: false }, "stored cachedContents/a"],
  [{ kind: "stored prefix", name: "cachedContents/a", isRead: true }, "read cachedContents/a"],
])("a reason is a sentence: %o", (reason, sentence) => {
  expect(describeReason(reason)).toBe(sentence);
});
