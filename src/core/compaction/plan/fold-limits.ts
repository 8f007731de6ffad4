// How much of a window histories may take: from where on they are folded, to what size, and how much of them is kept.
import type { BudgetLimits, TokenBudget } from "../../tokens/budget.ts";
import type { BoundaryWish } from "./find-boundary.ts";
import type { CompactionSettings } from "./settings.ts";

export interface FoldLimits {
  /** The model's limit without the longest reply and a buffer. */
  readonly effectiveTokens: number;
  /** From here on a fold may happen, where that was asked for. */
  readonly thresholdTokens: number;
  /** From here on it may where it pays many times over; the threshold where that makes no difference. */
  readonly earlyTokens: number;
  /** From here on it must: what is available is used, or the summary would not fit any more. */
  readonly guardTokens: number;
  /** What a prompt may take, the reserves being kept free. */
  readonly availableTokens: number;
  readonly keepTokens: number;
}

/** What the call that asks for a summary needs besides the prompt it repeats. */
export interface SummaryRoom {
  readonly instructionTokens: number;
  readonly summaryTokens: number;
}

export interface NoteSizes extends SummaryRoom {
  readonly outlineTokens: number;
  readonly indexTokens: number;
}

/** At most: each takes an eighth of a small window, or the notes would leave no room for what they are about. */
export function planNoteSizes(
  { summaryTokensMax, indexTokensMax }: CompactionSettings,
  { windowTokens }: Pick<BudgetLimits, "windowTokens">,
): NoteSizes {
  const most = Math.max(1, Math.floor(windowTokens / 8));
  return {
    instructionTokens: Math.min(instructionTokensUsual, most),
    summaryTokens: Math.min(summaryTokensMax, most),
    outlineTokens: Math.min(outlineTokensMax, most),
    indexTokens: Math.min(indexTokensMax, most),
  };
}

/** What is asked for in words, with some to spare. */
const instructionTokensUsual = 1_500;
const outlineTokensMax = 1_500;

export interface LimitsQuestion {
  readonly settings: CompactionSettings;
  readonly budget: Pick<TokenBudget, "availableTokens">;
  readonly model: BudgetLimits;
  /** What a reply may take at most, as calls ask for it; the model's own limit by default. */
  readonly outputTokensMax?: number;
  readonly room: SummaryRoom;
}

export function planFoldLimits({
  settings,
  budget,
  model,
  outputTokensMax,
  room,
}: LimitsQuestion): FoldLimits {
  const { availableTokens } = budget;
  const effectiveTokens = findEffectiveTokens(settings, model, outputTokensMax);
  const share = settings.auto.tokenShare ?? settings.compactAtShare;
  const thresholdTokens = Math.floor(share * effectiveTokens);
  const summarisable =
    Math.min(model.windowTokens - room.summaryTokens, model.inputTokensMax) -
    room.instructionTokens;
  const guardTokens = Math.max(1, Math.min(availableTokens, summarisable));
  return {
    effectiveTokens,
    thresholdTokens,
    earlyTokens: findEarlyTokens(settings, thresholdTokens),
    guardTokens,
    availableTokens,
    keepTokens: Math.floor(
      Math.min(settings.tailKeepTokens, settings.tailShareMax * effectiveTokens),
    ),
  };
}

function findEarlyTokens({ early, timing }: CompactionSettings, thresholdTokens: number): number {
  if (early === null || timing === "at once") return thresholdTokens;
  return Math.min(Math.floor(early.fromShare * thresholdTokens), early.fromTokensMax);
}

/** A share of what is available, or of what is used where that is less: a fold is to free something. */
export function findTargetTokens(
  { availableTokens }: Pick<FoldLimits, "availableTokens">,
  { targetShare, recoveryTargetShare }: CompactionSettings,
  { usedTokens, isRecovery }: { readonly usedTokens: number; readonly isRecovery: boolean },
): number {
  const share = isRecovery ? recoveryTargetShare : targetShare;
  return Math.floor(share * Math.min(availableTokens, usedTokens));
}

/** The recent turns may take half of the target; a turn that is larger is cut where a reply begins. */
export function toBoundaryWish(
  { keepTokens }: Pick<FoldLimits, "keepTokens">,
  { tailTurnsMin }: Pick<CompactionSettings, "tailTurnsMin">,
  targetTokens: number,
): BoundaryWish {
  return {
    keepTokens,
    keepTokensMax: Math.max(keepTokens, Math.floor(targetTokens / 2)),
    turnsMin: tailTurnsMin,
    mayCutInside: true,
  };
}

/** No less than half the window, however long replies may be. */
export function findEffectiveTokens(
  { auto }: Pick<CompactionSettings, "auto">,
  model: BudgetLimits,
  asked: number | undefined,
): number {
  const { windowTokens, inputTokensMax } = model;
  const output = Math.min(asked ?? Infinity, model.outputTokensMax ?? asked ?? 0);
  const prompt = Math.min(windowTokens - output, inputTokensMax);
  const buffer = Math.min(auto.bufferTokens, Math.floor(auto.bufferShareMax * windowTokens));
  return Math.max(prompt - buffer, Math.floor(windowTokens / 2));
}
