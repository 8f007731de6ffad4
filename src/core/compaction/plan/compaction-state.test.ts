import { expect, test } from "vitest";
import {
  afterCall,
  afterFailure,
  afterCompaction,
  afterTurn,
  cooldownEndMs,
  openCompactionState,
  toCompactionState,
} from "./compaction-state.ts";

const outcome = { nowMs: 5_000, tokensBefore: 100, tokensAfter: 40, effectiveShareMin: 0.1 };

test("turns and calls are counted from the last fold", () => {
  const before = afterTurn(afterCall(afterCall(openCompactionState())));
  expect(before).toMatchObject({ turnsSinceFold: 1, callsSinceFold: 2, calls: 2 });
  expect(afterCompaction(before, outcome)).toMatchObject({
    turnsSinceFold: 0,
    callsSinceFold: 0,
    calls: 2,
    folds: 1,
    recentFoldsMs: [5_000],
  });
});

test("the pause after a failure grows from 60 to 300 to 900 seconds and stays there", () => {
  const seconds = [60, 300, 900];
  let state = openCompactionState();
  expect(cooldownEndMs(state, seconds)).toBeNull();
  const ends = [1, 2, 3, 4].map(() => {
    state = afterFailure(state, 1_000);
    return cooldownEndMs(state, seconds);
  });
  expect(ends).toEqual([61_000, 301_000, 901_000, 901_000]);
});

test("a fold ends the failures in a row and keeps their number", () => {
  const failed = afterFailure(afterFailure(openCompactionState(), 1), 2);
  const state = afterCompaction(failed, outcome);
  expect(state).toMatchObject({ consecutiveFailures: 0, failures: 2, lastFailureMs: null });
});

test("notes that stand in for a summary are a failure of it, and a fold that asks nobody is neither", () => {
  const failed = afterFailure(openCompactionState(), 1);
  expect(afterCompaction(failed, { ...outcome, summary: "failed" })).toMatchObject({
    folds: 1,
    consecutiveFailures: 2,
    failures: 2,
    lastFailureMs: outcome.nowMs,
  });
  expect(afterCompaction(failed, { ...outcome, summary: "none" })).toMatchObject({
    folds: 1,
    consecutiveFailures: 1,
    failures: 1,
    lastFailureMs: 1,
  });
});

test("folds that free less than a tenth are counted until one frees more", () => {
  const vain = { ...outcome, tokensAfter: 91 };
  const twice = afterCompaction(afterCompaction(openCompactionState(), vain), vain);
  expect(twice.ineffectivePasses).toBe(2);
  expect(afterCompaction(twice, { ...outcome, tokensAfter: 90 }).ineffectivePasses).toBe(0);
});

test("it survives being stored, and what is strange in a store is as at the beginning", () => {
  const compacted = afterFailure(afterCompaction(afterCall(openCompactionState()), outcome), 7_000);
  const state = { ...compacted, noPlace: { headTurnId: "t", promptTokens: 9 } };
  expect(toCompactionState(JSON.parse(JSON.stringify(state)))).toEqual(state);
  expect(toCompactionState(null)).toEqual(openCompactionState());
  expect(
    toCompactionState({ folds: "3", calls: -1, recentFoldsMs: [1, "x", null], noPlace: 7 }),
  ).toEqual({
    ...openCompactionState(),
    recentFoldsMs: [1],
  });
});
