// How much of a window a history may take: when to compact, to what size, and how much to keep.
import type { BudgetLimits, TokenBudget } from "../../tokens/budget.ts";
import type { BoundaryWish } from "./find-boundary.ts";
import { defaultCompactionSettings, type CompactionSettings } from "./settings.ts";

export interface CompactionLimits {
  /** The model's limit without the longest reply and a buffer. */
  readonly effectiveTokens: number;
  /** From here on a compaction may happen, if enabled. */
  readonly thresholdTokens: number;
  /** From here on it may happen if it pays many times over. Equals the threshold if that makes no difference. */
  readonly earlyTokens: number;
  /** From here on it must happen: the available room is used, or the summary would no longer fit. */
  readonly guardTokens: number;
  /** The limit for a prompt, with the reserves kept free. */
  readonly availableTokens: number;
  readonly keepTokens: number;
  /** Said where the settings ask for a longer tail than the window allows. Null otherwise. */
  readonly tailNotice: string | null;
}

/** What the summary call needs besides the prompt it repeats. */
export interface SummaryRoom {
  readonly instructionTokens: number;
  readonly summaryTokens: number;
}

export interface NoteSizes extends SummaryRoom {
  readonly outlineTokens: number;
  readonly indexTokens: number;
  readonly userWordsTokens: number;
}

/** Each takes at most an eighth of a small window, so that the notes leave room for the conversation. */
export function planNoteSizes(
  settings: CompactionSettings,
  { windowTokens }: Pick<BudgetLimits, "windowTokens">,
  compactedTokens: number,
): NoteSizes {
  const most = Math.max(1, Math.floor(windowTokens / 8));
  return {
    instructionTokens: Math.min(instructionTokensUsual, most),
    summaryTokens: Math.min(findSummaryTokens(settings, windowTokens, compactedTokens), most),
    outlineTokens: Math.min(outlineTokensMax, most),
    indexTokens: Math.min(settings.indexTokensMax, most),
    userWordsTokens: Math.min(settings.userWordsTokensMax, most, userWordsRoom(compactedTokens)),
  };
}

/** A share of what the summary replaces, and of the window, within the limits. */
function findSummaryTokens(
  { summaryShareMax, summaryTokensMin, summaryTokensMax }: CompactionSettings,
  windowTokens: number,
  compactedTokens: number,
): number {
  const share = Math.min(summaryShareMax * compactedTokens, summaryWindowShare * windowTokens);
  return Math.min(summaryTokensMax, Math.max(summaryTokensMin, Math.floor(share)));
}

const summaryWindowShare = 0.05;

/** A share of what is compacted: where the user wrote most of it, their words would be no shorter. */
function userWordsRoom(compactedTokens: number): number {
  const tokens = Math.floor(compactedTokens * userWordsShareMax);
  return tokens < userWordsTokensMin ? 0 : tokens;
}

const userWordsShareMax = 0.05;
/** The summary of a short part holds its few requests anyway. */
const userWordsTokensMin = 500;

/** The usual instruction, with a margin. */
const instructionTokensUsual = 1_500;
const outlineTokensMax = 1_500;

export interface LimitsQuestion {
  readonly settings: CompactionSettings;
  readonly budget: Pick<TokenBudget, "availableTokens">;
  readonly model: BudgetLimits;
  /** The longest reply that calls request. Default: the model's limit. */
  readonly outputTokensMax?: number;
  readonly room: SummaryRoom;
}

export function planCompactionLimits({
  settings,
  budget,
  model,
  outputTokensMax,
  room,
}: LimitsQuestion): CompactionLimits {
  const { availableTokens } = budget;
  const effectiveTokens = findEffectiveTokens(settings, model, outputTokensMax);
  const share = settings.auto.tokenShare ?? settings.compactAtShare;
  const thresholdTokens = Math.floor(share * effectiveTokens);
  const summarisable =
    Math.min(model.windowTokens - room.summaryTokens, model.inputTokensMax) -
    room.instructionTokens;
  const guardTokens = Math.max(1, Math.min(availableTokens, summarisable));
  const tailTokensMax = Math.floor(settings.tailShareMax * effectiveTokens);
  return {
    effectiveTokens,
    thresholdTokens,
    earlyTokens: findEarlyTokens(settings, thresholdTokens),
    guardTokens,
    availableTokens,
    keepTokens: Math.floor(Math.min(settings.tailKeepTokens, tailTokensMax)),
    tailNotice: describeTail(settings.tailKeepTokens, tailTokensMax),
  };
}

/** The default is meant as at most; only another value was asked for. */
function describeTail(asked: number, most: number): string | null {
  if (asked <= most || asked === defaultCompactionSettings.tailKeepTokens) return null;
  return `tail_keep_tokens is ${asked}, but at most ${most} tokens are kept: a share of the model's window`;
}

function findEarlyTokens({ early, timing }: CompactionSettings, thresholdTokens: number): number {
  if (early === null || timing === "at once") return thresholdTokens;
  return Math.min(Math.floor(early.fromShare * thresholdTokens), early.fromTokensMax);
}

/** A share of what is available, or of what is used if that is less, so that a compaction always frees something. */
export function findTargetTokens(
  { availableTokens }: Pick<CompactionLimits, "availableTokens">,
  { targetShare, recoveryTargetShare }: CompactionSettings,
  { usedTokens, isRecovery }: { readonly usedTokens: number; readonly isRecovery: boolean },
): number {
  const share = isRecovery ? recoveryTargetShare : targetShare;
  return Math.floor(share * Math.min(availableTokens, usedTokens));
}

/** The recent turns may take half of the target. A larger turn is cut before a reply. */
export function toBoundaryWish(
  { keepTokens }: Pick<CompactionLimits, "keepTokens">,
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

/** At least half the window, however long replies may be. */
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
