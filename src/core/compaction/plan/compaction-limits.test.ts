import { expect, test } from "vitest";
import { planBudget } from "../../tokens/budget.ts";
import {
  findTargetTokens,
  planCompactionLimits,
  planNoteSizes,
  toBoundaryWish,
  type NoteSizes,
} from "./compaction-limits.ts";
import { defaultCompactionSettings, type CompactionSettings } from "./settings.ts";

const model = { windowTokens: 200_000, inputTokensMax: 200_000, outputTokensMax: 64_000 };
const empty = { T0: 0, T1: 0, T2: 0, T3: 0, T4: 0, T5: 0 };
const room = { instructionTokens: 1_000, summaryTokens: 4_000 };
const settings = defaultCompactionSettings;

test("the effective window is the model's without its longest reply and 13k (C-7)", () => {
  const budget = planBudget(model, empty);
  expect(planCompactionLimits({ settings, budget, model, room })).toEqual({
    effectiveTokens: 123_000,
    thresholdTokens: 92_250,
    earlyTokens: 61_500,
    guardTokens: 176_000,
    availableTokens: 176_000,
    keepTokens: 20_000,
    tailNotice: null,
  });
});

test("a longer tail than a fifth of the window allows is told, and the default is not", () => {
  const budget = planBudget(model, empty);
  const limitsFor = (tailKeepTokens: number, of = model) =>
    planCompactionLimits({ settings: { ...settings, tailKeepTokens }, budget, model: of, room });
  expect(limitsFor(60_000)).toMatchObject({
    keepTokens: 24_600,
    tailNotice:
      "tail_keep_tokens is 60000, but at most 24600 tokens are kept: a share of the model's window",
  });
  expect(limitsFor(24_000).tailNotice).toBeNull();
  const small = { windowTokens: 32_000, inputTokensMax: 32_000, outputTokensMax: 4_000 };
  expect(limitsFor(20_000, small).tailNotice).toBeNull();
});

test("what calls ask for counts where it is less than the model's limit", () => {
  const budget = planBudget(model, empty);
  const limits = planCompactionLimits({ settings, budget, model, room, outputTokensMax: 8_000 });
  expect(limits.effectiveTokens).toBe(179_000);
});

test("the buffer is at most a tenth of a small window, the tail a fifth of what is left", () => {
  const small = { windowTokens: 32_000, inputTokensMax: 32_000, outputTokensMax: 4_000 };
  const limits = planCompactionLimits({
    settings,
    budget: planBudget(small, empty),
    model: small,
    room,
  });
  expect(limits).toMatchObject({ effectiveTokens: 24_800, keepTokens: 4_960 });
});

test("however long replies may be, half the window is effective", () => {
  const chatty = { windowTokens: 100_000, inputTokensMax: 100_000, outputTokensMax: 90_000 };
  const budget = planBudget(chatty, empty);
  expect(planCompactionLimits({ settings, budget, model: chatty, room }).effectiveTokens).toBe(
    50_000,
  );
});

test("the guard leaves room for the instruction and the summary where the reserves do not", () => {
  const budget = planBudget(model, empty, { responseTokens: 1_000, toolTokens: 0 });
  const { availableTokens, guardTokens } = planCompactionLimits({ settings, budget, model, room });
  expect([availableTokens, guardTokens]).toEqual([199_000, 195_000]);
});

test("in a large window folds that pay may come from 256k on", () => {
  const large = { windowTokens: 1_000_000, inputTokensMax: 1_000_000, outputTokensMax: 64_000 };
  const budget = planBudget(large, empty);
  const limits = planCompactionLimits({ settings, budget, model: large, room });
  expect(limits).toMatchObject({ thresholdTokens: 692_250, earlyTokens: 256_000 });
  const atOnce: CompactionSettings = { ...settings, timing: "at once" };
  expect(planCompactionLimits({ settings: atOnce, budget, model: large, room }).earlyTokens).toBe(
    692_250,
  );
});

test("the share of `auto` comes before the other one", () => {
  const auto = { ...settings.auto, tokenShare: 0.8 };
  const budget = planBudget(model, empty);
  const limits = planCompactionLimits({ settings: { ...settings, auto }, budget, model, room });
  expect(limits.thresholdTokens).toBe(98_400);
});

test("targets are 60 % and 40 % of what is available, or of what is used where that is less", () => {
  const limits = { availableTokens: 100_000 };
  const target = (usedTokens: number, isRecovery: boolean): number =>
    findTargetTokens(limits, settings, { usedTokens, isRecovery });
  expect([target(120_000, false), target(120_000, true), target(50_000, false)]).toEqual([
    60_000, 40_000, 30_000,
  ]);
});

test("the recent turns may take half of the target", () => {
  const wish = toBoundaryWish({ keepTokens: 20_000 }, settings, 60_000);
  expect(wish).toEqual({
    keepTokens: 20_000,
    keepTokensMax: 30_000,
    turnsMin: 3,
    mayCutInside: true,
  });
});

test("in a small window each part of the notes takes an eighth at most", () => {
  expect(planNoteSizes(settings, { windowTokens: 8_192 }, 90_000)).toEqual({
    instructionTokens: 1_024,
    summaryTokens: 1_024,
    outlineTokens: 1_024,
    indexTokens: 1_024,
    userWordsTokens: 1_024,
  });
  expect(planNoteSizes(settings, { windowTokens: 200_000 }, 90_000)).toEqual({
    instructionTokens: 1_500,
    summaryTokens: 10_000,
    outlineTokens: 1_500,
    indexTokens: 2_000,
    userWordsTokens: 2_000,
  });
});

function sizesFor(
  compactedTokens: number,
  windowTokens: number,
  more: Partial<CompactionSettings> = {},
): NoteSizes {
  return planNoteSizes({ ...settings, ...more }, { windowTokens }, compactedTokens);
}

test("the user's words take a twentieth of what is compacted at most, and can be turned off", () => {
  const parts = [9_000, 10_000, 100_000].map((tokens) => sizesFor(tokens, 200_000));
  expect(parts.map(({ userWordsTokens }) => userWordsTokens)).toEqual([0, 500, 2_000]);
  expect(sizesFor(100_000, 200_000, { userWordsTokensMax: 0 }).userWordsTokens).toBe(0);
});

test("a summary may take a fifth of what it replaces, within limits that can be set (H-13)", () => {
  const parts = [5_000, 30_000, 300_000].map((tokens) => sizesFor(tokens, 400_000));
  expect(parts.map(({ summaryTokens }) => summaryTokens)).toEqual([4_096, 6_000, 12_000]);
  expect(sizesFor(30_000, 400_000, { summaryShareMax: 0.3 }).summaryTokens).toBe(9_000);
  expect(sizesFor(300_000, 400_000, { summaryTokensMax: 900 }).summaryTokens).toBe(900);
});
