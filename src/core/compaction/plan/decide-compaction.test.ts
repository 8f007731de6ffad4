// Goal: a compaction happens for the right reason or is refused with one. Method: one situation, changed in one
// place at a time.
import { describe, expect, test } from "vitest";
import { decideCompaction, type CompactionSituation } from "./decide-compaction.ts";
import { findBoundary } from "./find-boundary.ts";
import type { CompactionLimits } from "./compaction-limits.ts";
import { afterFailure, openCompactionState, type CompactionState } from "./compaction-state.ts";
import { defaultCompactionSettings, type CompactionSettings } from "./settings.ts";
import { chatTurn } from "./test-kit.ts";
import type { Weighing } from "./weigh-compaction.ts";

const limits: CompactionLimits = {
  effectiveTokens: 100_000,
  thresholdTokens: 75_000,
  earlyTokens: 50_000,
  guardTokens: 90_000,
  availableTokens: 90_000,
  tailNotice: null,
  keepTokens: 20_000,
};

const history = Array.from({ length: 8 }, (_, at) => chatTurn(`t${at}`, 10_000)).flat();

const enabled: CompactionSettings = { ...defaultCompactionSettings, isEnabled: true };

function weighing(gainFactor: number | null): Weighing {
  return {
    isPriced: true,
    tokensBefore: 80_000,
    tokensAfter: 33_500,
    summaryPicoUsd: 2n,
    rewritePicoUsd: 3n,
    costNowPicoUsd: 5n,
    savingPerCallPicoUsd: 1n,
    breakEvenCalls: 5,
    callsLeft: 10,
    gainFactor,
  };
}

function situation(changes: Partial<CompactionSituation> = {}): CompactionSituation {
  return {
    settings: enabled,
    limits,
    usedTokens: 80_000,
    nowMs: 10_000_000,
    sessionAgeMs: 1_000,
    state: openCompactionState(),
    findBoundary: () => findBoundary(history, { keepTokens: 20_000 }),
    weigh: () => weighing(2),
    ...changes,
  };
}

function unasked(): never {
  throw new Error("this must not be called");
}

function withAuto(changes: Partial<CompactionSettings["auto"]>): CompactionSettings {
  return { ...enabled, auto: { ...enabled.auto, ...changes } };
}

function compacted(changes: Partial<CompactionState>): CompactionState {
  return { ...openCompactionState(), folds: 1, turnsSinceFold: 9, callsSinceFold: 9, ...changes };
}

describe("triggers", () => {
  test("a margin for what no call has sent yet counts towards a full window, not towards the threshold", () => {
    const off = { settings: defaultCompactionSettings, usedTokens: 89_000 };
    expect(decideCompaction(situation({ ...off, marginTokens: 999 })).trigger).toBeNull();
    const full = decideCompaction(situation({ ...off, marginTokens: 1_000 }));
    expect(full).toMatchObject({ isDue: true, trigger: "context_limit" });
    const below = { usedTokens: 49_000, marginTokens: 30_000 };
    expect(decideCompaction(situation(below)).trigger).toBeNull();
  });

  test("pressure above the threshold folds to 60 % of what is used or available", () => {
    expect(decideCompaction(situation())).toMatchObject({
      isDue: true,
      trigger: "token_pressure",
      targetTokens: 48_000,
      mayAskModel: true,
      boundary: { firstKeptTurnId: "t5" },
      weighing: { breakEvenCalls: 5 },
      numbers: { usedTokens: 80_000, thresholdTokens: 75_000, guardTokens: 90_000 },
    });
  });

  test("nothing happens below the threshold, and nothing is searched or weighed", () => {
    const decision = decideCompaction(
      situation({ usedTokens: 49_999, findBoundary: unasked, weigh: unasked }),
    );
    expect(decision).toMatchObject({ isDue: false, reason: "below threshold", trigger: null });
  });

  test("nothing happens unless it was asked for", () => {
    const decision = decideCompaction(situation({ settings: defaultCompactionSettings }));
    expect(decision).toMatchObject({ isDue: false, reason: "disabled" });
  });

  test("a full window folds whatever the settings say", () => {
    const decision = decideCompaction(
      situation({ settings: defaultCompactionSettings, usedTokens: 90_000 }),
    );
    expect(decision).toMatchObject({ isDue: true, trigger: "context_limit", targetTokens: 54_000 });
  });

  test("an overflow folds to 40 %", () => {
    const decision = decideCompaction(
      situation({ asked: "overflow_recovery", usedTokens: 95_000 }),
    );
    expect(decision).toMatchObject({
      isDue: true,
      trigger: "overflow_recovery",
      targetTokens: 36_000,
    });
  });

  test("someone who asks gets a fold at any size", () => {
    const decision = decideCompaction(
      situation({ settings: defaultCompactionSettings, asked: "manual", usedTokens: 30_000 }),
    );
    expect(decision).toMatchObject({ isDue: true, trigger: "manual", targetTokens: 18_000 });
  });

  test("an old session is folded, and then not before it is old again", () => {
    const settings = withAuto({ ageMinutesMax: 120 });
    const old = { settings, usedTokens: 40_000, sessionAgeMs: 7_200_000 };
    expect(decideCompaction(situation(old))).toMatchObject({ isDue: true, trigger: "age" });
    const state = compacted({ recentFoldsMs: [9_000_000] });
    expect(decideCompaction(situation({ ...old, state }))).toMatchObject({
      isDue: false,
      reason: "below threshold",
    });
  });

  test("pressure and age together fold even where it does not pay", () => {
    const settings = withAuto({ ageMinutesMax: 120 });
    const both = { settings, sessionAgeMs: 7_200_000, weigh: () => weighing(0.1) };
    expect(decideCompaction(situation(both))).toMatchObject({
      isDue: true,
      trigger: "token_pressure",
    });
  });
});

describe("when it pays", () => {
  test("above the threshold a fold waits until it pays", () => {
    expect(decideCompaction(situation({ weigh: () => weighing(0.9) }))).toMatchObject({
      isDue: false,
      reason: "does not pay yet",
      trigger: "token_pressure",
      weighing: { gainFactor: 0.9 },
    });
  });

  test("or happens at once, where that was chosen", () => {
    const settings: CompactionSettings = { ...enabled, timing: "at once" };
    expect(decideCompaction(situation({ settings, weigh: () => weighing(0.9) })).isDue).toBe(true);
  });

  test("before the threshold it has to pay many times over", () => {
    const early = { usedTokens: 60_000 };
    const few = decideCompaction(situation({ ...early, weigh: () => weighing(7.9) }));
    expect(few).toMatchObject({ isDue: false, reason: "below threshold" });
    expect(decideCompaction(situation({ ...early, weigh: () => weighing(8) })).isDue).toBe(true);
  });

  test("a fold that costs nothing, because the cache is cold, happens early", () => {
    const decision = decideCompaction(
      situation({ usedTokens: 60_000, weigh: () => weighing(null) }),
    );
    expect(decision.isDue).toBe(true);
  });
});

describe("guards", () => {
  test.each<[string, CompactionState, string]>([
    ["neither turns nor calls have passed", compacted({ turnsSinceFold: 4 }), "too soon"],
    ["three failures in a row", compacted({ consecutiveFailures: 3 }), "breaker open"],
    ["a failure less than 60 s ago", afterFailure(compacted({}), 9_950_000), "breaker open"],
    ["two folds in vain", compacted({ ineffectivePasses: 2 }), "ineffective"],
    [
      "three folds in ten minutes",
      compacted({ recentFoldsMs: [9.5e6, 9.6e6, 9.7e6] }),
      "too often",
    ],
  ])("%s: refused, unless the window is full or someone asks", (_name, state, reason) => {
    expect(decideCompaction(situation({ state }))).toMatchObject({ isDue: false, reason });
    expect(decideCompaction(situation({ state, usedTokens: 100_000 })).isDue).toBe(true);
    expect(decideCompaction(situation({ state, asked: "manual" })).isDue).toBe(true);
    expect(decideCompaction(situation({ state, asked: "overflow_recovery" })).isDue).toBe(true);
  });

  test("many calls are as good as five turns", () => {
    const state = compacted({ turnsSinceFold: 0, callsSinceFold: 40 });
    expect(decideCompaction(situation({ state })).isDue).toBe(true);
  });

  test("a limit of 0 failures never trips", () => {
    const state = compacted({ consecutiveFailures: 99 });
    const settings = withAuto({ consecutiveFailuresMax: 0 });
    expect(decideCompaction(situation({ state, settings })).isDue).toBe(true);
  });

  test("after a failure a forced fold is made without a model", () => {
    const state = afterFailure(compacted({}), 9_950_000);
    expect(decideCompaction(situation({ state, usedTokens: 90_000 }))).toMatchObject({
      isDue: true,
      mayAskModel: false,
      numbers: { cooldownMsLeft: 10_000 },
    });
  });

  test.each<[string, CompactionState, string | null]>([
    ["turns and calls that have not passed", compacted({ turnsSinceFold: 4 }), "too soon"],
    ["two folds in vain", compacted({ ineffectivePasses: 2 }), "ineffective"],
    ["three in ten minutes", compacted({ recentFoldsMs: [9.5e6, 9.6e6, 9.7e6] }), "too often"],
    ["a failure", afterFailure(compacted({}), 9_950_000), null],
  ])("while room is left, a fold for the summary's sake: %s", (_name, state, reason) => {
    const roomy = { ...limits, guardTokens: 85_000 };
    const decision = decideCompaction(situation({ state, limits: roomy, usedTokens: 86_000 }));
    expect(decision).toMatchObject({
      trigger: "context_limit",
      ...(reason === null ? { isDue: true, mayAskModel: false } : { isDue: false, reason }),
    });
  });

  test("after two folds in vain no model is asked, unless somebody wants it", () => {
    const state = compacted({ ineffectivePasses: 2 });
    const full = { state, usedTokens: 100_000 };
    expect(decideCompaction(situation(full))).toMatchObject({ isDue: true, mayAskModel: false });
    const asked = situation({ ...full, asked: "manual" });
    expect(decideCompaction(asked)).toMatchObject({ isDue: true, mayAskModel: true });
  });

  test("without a boundary nothing is folded, however full the window", () => {
    expect(
      decideCompaction(situation({ usedTokens: 99_000, findBoundary: () => null })),
    ).toMatchObject({
      isDue: false,
      reason: "no boundary",
      trigger: "context_limit",
    });
  });
});
