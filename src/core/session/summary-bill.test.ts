import { expect, test } from "vitest";
import type { Usage } from "../message/usage.ts";
import type { SummaryCall } from "./summary-bill.ts";
import { knownCost, sumCalls } from "./summary-bill.ts";

const usage: Usage = {
  uncachedTokens: 10,
  cacheReadTokens: 200,
  cacheWriteTokens: { "5m": 30 },
  outputTokens: 40,
  reasoningTokens: 5,
};

const call: SummaryCall = {
  startMs: 0,
  endMs: 1,
  model: "m",
  provider: "p",
  status: "complete",
  usage,
  discarded: [],
  costPicoUsd: 7n,
  failure: null,
};

test("every call counts, also what an attempt that came to nothing took", () => {
  const failed = { ...call, usage: null, discarded: [usage], costPicoUsd: 3n };
  const untold = { ...call, usage: null, costPicoUsd: null };
  expect(sumCalls([failed, untold, call])).toEqual({
    inputTokens: 480,
    outputTokens: 90,
    costPicoUsd: 10n,
    callsWithoutCost: 0,
  });
});

test("what has no price is not free", () => {
  const bill = sumCalls([{ ...call, costPicoUsd: null }]);
  expect(bill).toMatchObject({ costPicoUsd: 0n, callsWithoutCost: 1 });
  expect(knownCost(bill)).toBeNull();
  expect(knownCost(sumCalls([call]))).toBe(7n);
  expect(knownCost(sumCalls([]))).toBe(0n);
});
