// Goal: a compaction happens for the right reason or is refused with one. Method: one situation, changed in one
// place at a time.
import { describe, expect, test } from "vitest";
import { decideFold, type FoldSituation } from "./decide-fold.ts";
import { findBoundary } from "./find-boundary.ts";
import type { FoldLimits } from "./fold-limits.ts";
import { afterFailure, openFoldingState, type FoldingState } from "./folding-state.ts";
import { defaultCompactionSettings, type CompactionSettings } from "./settings.ts";
import { chatTurn } from "./test-kit.ts";
import type { Weighing } from "./weigh-fold.ts";

const limits: FoldLimits = {
  effectiveTokens: 100_000,
  thresholdTokens: 75_000,
  earlyTokens: 50_000,
  guardTokens: 90_000,
  availableTokens: 90_000,
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

function situation(changes: Partial<FoldSituation> = {}): FoldSituation {
  return {
    settings: enabled,
    limits,
    usedTokens: 80_000,
    nowMs: 10_000_000,
    sessionAgeMs: 1_000,
    state: openFoldingState(),
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

function folded(changes: Partial<FoldingState>): FoldingState {
  return { ...openFoldingState(), folds: 1, turnsSinceFold: 9, callsSinceFold: 9, ...changes };
}

describe("triggers", () => {
  test("pressure above the threshold folds to 60 % of what is used or available", () => {
    expect(decideFold(situation())).toMatchObject({
      fold: true,
      trigger: "token_pressure",
      targetTokens: 48_000,
      mayAskModel: true,
      boundary: { firstKeptTurnId: "t5" },
      weighing: { breakEvenCalls: 5 },
      numbers: { usedTokens: 80_000, thresholdTokens: 75_000, guardTokens: 90_000 },
    });
  });

  test("nothing happens below the threshold, and nothing is searched or weighed", () => {
    const decision = decideFold(
      situation({ usedTokens: 49_999, findBoundary: unasked, weigh: unasked }),
    );
    expect(decision).toMatchObject({ fold: false, reason: "below threshold", trigger: null });
  });

  test("nothing happens unless it was asked for", () => {
    const decision = decideFold(situation({ settings: defaultCompactionSettings }));
    expect(decision).toMatchObject({ fold: false, reason: "disabled" });
  });

  test("a full window folds whatever the settings say", () => {
    const decision = decideFold(
      situation({ settings: defaultCompactionSettings, usedTokens: 90_000 }),
    );
    expect(decision).toMatchObject({ fold: true, trigger: "context_limit", targetTokens: 54_000 });
  });

  test("an overflow folds to 40 %", () => {
    const decision = decideFold(situation({ asked: "overflow_recovery", usedTokens: 95_000 }));
    expect(decision).toMatchObject({
      fold: true,
      trigger: "overflow_recovery",
      targetTokens: 36_000,
    });
  });

  test("someone who asks gets a fold at any size", () => {
    const decision = decideFold(
      situation({ settings: defaultCompactionSettings, asked: "manual", usedTokens: 30_000 }),
    );
    expect(decision).toMatchObject({ fold: true, trigger: "manual", targetTokens: 18_000 });
  });

  test("an old session is folded, and then not before it is old again", () => {
    const settings = withAuto({ ageMinutesMax: 120 });
    const old = { settings, usedTokens: 40_000, sessionAgeMs: 7_200_000 };
    expect(decideFold(situation(old))).toMatchObject({ fold: true, trigger: "age" });
    const state = folded({ recentFoldsMs: [9_000_000] });
    expect(decideFold(situation({ ...old, state }))).toMatchObject({
      fold: false,
      reason: "below threshold",
    });
  });

  test("pressure and age together fold even where it does not pay", () => {
    const settings = withAuto({ ageMinutesMax: 120 });
    const both = { settings, sessionAgeMs: 7_200_000, weigh: () => weighing(0.1) };
    expect(decideFold(situation(both))).toMatchObject({ fold: true, trigger: "token_pressure" });
  });
});

describe("when it pays", () => {
  test("above the threshold a fold waits until it pays", () => {
    expect(decideFold(situation({ weigh: () => weighing(0.9) }))).toMatchObject({
      fold: false,
      reason: "does not pay yet",
      trigger: "token_pressure",
      weighing: { gainFactor: 0.9 },
    });
  });

  test("or happens at once, where that was chosen", () => {
    const settings: CompactionSettings = { ...enabled, timing: "at once" };
    expect(decideFold(situation({ settings, weigh: () => weighing(0.9) })).fold).toBe(true);
  });

  test("before the threshold it has to pay many times over", () => {
    const early = { usedTokens: 60_000 };
    const few = decideFold(situation({ ...early, weigh: () => weighing(7.9) }));
    expect(few).toMatchObject({ fold: false, reason: "below threshold" });
    expect(decideFold(situation({ ...early, weigh: () => weighing(8) })).fold).toBe(true);
  });

  test("a fold that costs nothing, because the cache is cold, happens early", () => {
    const decision = decideFold(situation({ usedTokens: 60_000, weigh: () => weighing(null) }));
    expect(decision.fold).toBe(true);
  });
});

describe("guards", () => {
  test.each<[string, FoldingState, string]>([
    ["neither turns nor calls have passed", folded({ turnsSinceFold: 4 }), "too soon"],
    ["three failures in a row", folded({ consecutiveFailures: 3 }), "breaker open"],
    ["a failure less than 60 s ago", afterFailure(folded({}), 9_950_000), "breaker open"],
    ["two folds in vain", folded({ ineffectivePasses: 2 }), "ineffective"],
    ["three folds in ten minutes", folded({ recentFoldsMs: [9.5e6, 9.6e6, 9.7e6] }), "too often"],
  ])("%s: refused, unless the window is full or someone asks", (_name, state, reason) => {
    expect(decideFold(situation({ state }))).toMatchObject({ fold: false, reason });
    expect(decideFold(situation({ state, usedTokens: 100_000 })).fold).toBe(true);
    expect(decideFold(situation({ state, asked: "manual" })).fold).toBe(true);
    expect(decideFold(situation({ state, asked: "overflow_recovery" })).fold).toBe(true);
  });

  test("many calls are as good as five turns", () => {
    const state = folded({ turnsSinceFold: 0, callsSinceFold: 40 });
    expect(decideFold(situation({ state })).fold).toBe(true);
  });

  test("a limit of 0 failures never trips", () => {
    const state = folded({ consecutiveFailures: 99 });
    const settings = withAuto({ consecutiveFailuresMax: 0 });
    expect(decideFold(situation({ state, settings })).fold).toBe(true);
  });

  test("after a failure a forced fold is made without a model", () => {
    const state = afterFailure(folded({}), 9_950_000);
    expect(decideFold(situation({ state, usedTokens: 90_000 }))).toMatchObject({
      fold: true,
      mayAskModel: false,
      numbers: { cooldownMsLeft: 10_000 },
    });
  });

  test.each<[string, FoldingState, string | null]>([
    ["turns and calls that have not passed", folded({ turnsSinceFold: 4 }), "too soon"],
    ["two folds in vain", folded({ ineffectivePasses: 2 }), "ineffective"],
    ["three in ten minutes", folded({ recentFoldsMs: [9.5e6, 9.6e6, 9.7e6] }), "too often"],
    ["a failure", afterFailure(folded({}), 9_950_000), null],
  ])("while room is left, a fold for the summary's sake: %s", (_name, state, reason) => {
    const roomy = { ...limits, guardTokens: 85_000 };
    const decision = decideFold(situation({ state, limits: roomy, usedTokens: 86_000 }));
    expect(decision).toMatchObject({
      trigger: "context_limit",
      ...(reason === null ? { fold: true, mayAskModel: false } : { fold: false, reason }),
    });
  });

  test("after two folds in vain no model is asked, unless somebody wants it", () => {
    const state = folded({ ineffectivePasses: 2 });
    const full = { state, usedTokens: 100_000 };
    expect(decideFold(situation(full))).toMatchObject({ fold: true, mayAskModel: false });
    const asked = situation({ ...full, asked: "manual" });
    expect(decideFold(asked)).toMatchObject({ fold: true, mayAskModel: true });
  });

  test("without a boundary nothing is folded, however full the window", () => {
    expect(decideFold(situation({ usedTokens: 99_000, findBoundary: () => null }))).toMatchObject({
      fold: false,
      reason: "no boundary",
      trigger: "context_limit",
    });
  });
});
