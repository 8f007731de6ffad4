// Whether to compact now, why, and to what size; or why not. Every answer includes its numbers.
import type { Boundary, BoundarySizes } from "./find-boundary.ts";
import { findTargetTokens, type CompactionLimits } from "./compaction-limits.ts";
import { cooldownEndMs, type CompactionState } from "./compaction-state.ts";
import type { CompactionSettings } from "./settings.ts";
import type { Weighing } from "./weigh-compaction.ts";

/** `context_limit`: the window is full, independent of the settings. */
export type CompactionTrigger =
  | "token_pressure"
  | "age"
  | "context_limit"
  | "overflow_recovery"
  | "manual";

/** The list is closed: a new reason is a decision. */
export type NoCompactionReason =
  | "disabled"
  | "below threshold"
  | "too soon"
  | "breaker open"
  | "ineffective"
  | "too often"
  | "no boundary"
  | "memory leaves first"
  | "does not pay yet";

/** Boundaries may be known by their sizes alone, so that a decision does not need the history. */
export interface CompactionSituation<Place extends BoundarySizes = Boundary> {
  readonly settings: CompactionSettings;
  readonly limits: CompactionLimits;
  readonly usedTokens: number;
  /** How far the estimate of new messages may be too low. Counts where the window is nearly full. 0 by default. */
  readonly marginTokens?: number;
  /** Memory in this prompt that can be left out. Where that is enough, the history stays. 0 by default. */
  readonly memoryTokens?: number;
  readonly nowMs: number;
  readonly sessionAgeMs: number;
  readonly state: CompactionState;
  /** The provider refused the prompt as too long, or a user asks for a compaction. */
  readonly asked?: "overflow_recovery" | "manual";
  /** Both are called only if needed. */
  readonly findBoundary: (targetTokens: number) => Place | null;
  readonly weigh: (boundary: Place) => Weighing;
}

export interface CompactionNumbers {
  readonly usedTokens: number;
  readonly effectiveTokens: number;
  readonly thresholdTokens: number;
  readonly guardTokens: number;
  readonly availableTokens: number;
  readonly turnsSinceFold: number;
  readonly callsSinceFold: number;
  readonly consecutiveFailures: number;
  readonly ineffectivePasses: number;
  readonly foldsRecently: number;
  /** Null if a summary may be requested now. */
  readonly cooldownMsLeft: number | null;
}

export type CompactionDecision<Place extends BoundarySizes = Boundary> =
  | {
      readonly isDue: true;
      readonly trigger: CompactionTrigger;
      readonly targetTokens: number;
      readonly boundary: Place;
      readonly weighing: Weighing;
      /** False right after failures and after ineffective compactions. The notes are then made without a model. */
      readonly mayAskModel: boolean;
      readonly numbers: CompactionNumbers;
    }
  | {
      readonly isDue: false;
      readonly reason: NoCompactionReason;
      /** The trigger that applied. Null if there was none. */
      readonly trigger: CompactionTrigger | null;
      readonly weighing: Weighing | null;
      readonly numbers: CompactionNumbers;
    };

export function decideCompaction<Place extends BoundarySizes>(
  situation: CompactionSituation<Place>,
): CompactionDecision<Place> {
  const { settings, limits, usedTokens, state, findBoundary, weigh } = situation;
  const numbers = toNumbers(situation);
  const { trigger, reason } = findTrigger(situation);
  const refuse = (
    why: NoCompactionReason,
    weighing: Weighing | null = null,
  ): CompactionDecision<Place> => ({
    isDue: false,
    reason: why,
    trigger,
    weighing,
    numbers,
  });
  if (trigger === null) return refuse(reason);
  if (trigger === "context_limit" && fitsWithoutMemory(situation)) {
    return refuse("memory leaves first");
  }
  const guard = findGuard(trigger, situation, numbers);
  if (guard !== null) return refuse(guard);
  const isRecovery = trigger === "overflow_recovery";
  const targetTokens = findTargetTokens(limits, settings, { usedTokens, isRecovery });
  const boundary = findBoundary(targetTokens);
  if (boundary === null) return refuse("no boundary");
  const weighing = weigh(boundary);
  if (trigger === "token_pressure" && !isWorthIt(situation, weighing)) {
    const isDue = usedTokens >= limits.thresholdTokens;
    return refuse(isDue ? "does not pay yet" : "below threshold", weighing);
  }
  const isFutile = state.ineffectivePasses >= settings.auto.ineffectivePassesMax;
  const mayAskModel = trigger === "manual" || (numbers.cooldownMsLeft === null && !isFutile);
  return { isDue: true, trigger, targetTokens, boundary, weighing, mayAskModel, numbers };
}

/** The part of a situation that the helpers need. */
type Known = Omit<CompactionSituation, "findBoundary" | "weigh">;

function findTrigger({
  settings,
  limits,
  usedTokens,
  marginTokens = 0,
  asked,
  ...situation
}: Known): {
  readonly trigger: CompactionTrigger | null;
  readonly reason: NoCompactionReason;
} {
  if (asked !== undefined) return { trigger: asked, reason: "below threshold" };
  if (usedTokens + marginTokens >= limits.guardTokens) {
    return { trigger: "context_limit", reason: "below threshold" };
  }
  if (!settings.isEnabled) return { trigger: null, reason: "disabled" };
  if (usedTokens >= limits.earlyTokens)
    return { trigger: "token_pressure", reason: "below threshold" };
  const isOld = isAged({ settings, ...situation });
  return { trigger: isOld ? "age" : null, reason: "below threshold" };
}

function fitsWithoutMemory(situation: Known): boolean {
  const { usedTokens, marginTokens = 0, memoryTokens = 0, limits } = situation;
  return memoryTokens > 0 && usedTokens + marginTokens - memoryTokens < limits.guardTokens;
}

/** Counts from the last compaction; otherwise an old session would compact on every call. */
function isAged({
  settings,
  sessionAgeMs,
  state,
  nowMs,
}: Pick<Known, "settings" | "sessionAgeMs" | "state" | "nowMs">): boolean {
  const { ageMinutesMax } = settings.auto;
  if (ageMinutesMax === null) return false;
  const lastCompactionMs = state.recentFoldsMs.at(-1);
  const ageMs = lastCompactionMs === undefined ? sessionAgeMs : nowMs - lastCompactionMs;
  return ageMs >= ageMinutesMax * 60_000;
}

/** What keeps compactions from being too frequent or useless. */
function findGuard(
  trigger: CompactionTrigger,
  situation: Known,
  numbers: CompactionNumbers,
): NoCompactionReason | null {
  switch (trigger) {
    case "overflow_recovery":
    case "manual":
      return null;
    case "context_limit":
      return findForcedGuard(situation, numbers);
    case "token_pressure":
    case "age":
      return isBroken(situation, numbers)
        ? "breaker open"
        : (findIneffective(situation) ?? findTooSoon(situation, numbers));
  }
}

/** A forced compaction is held back only while there is room left, if it would free nothing or comes too soon. */
function findForcedGuard(situation: Known, numbers: CompactionNumbers): NoCompactionReason | null {
  const { limits, usedTokens, marginTokens = 0 } = situation;
  const tokens = usedTokens + marginTokens;
  const fits = tokens < Math.max(limits.availableTokens, limits.effectiveTokens);
  const ineffective = fits ? findIneffective(situation) : null;
  return ineffective ?? (tokens < limits.availableTokens ? findTooSoon(situation, numbers) : null);
}

function isBroken({ settings, state }: Known, { cooldownMsLeft }: CompactionNumbers): boolean {
  const failuresMax = settings.auto.consecutiveFailuresMax;
  const isTripped = failuresMax > 0 && state.consecutiveFailures >= failuresMax;
  return isTripped || cooldownMsLeft !== null;
}

function findIneffective({ settings, state }: Known): NoCompactionReason | null {
  return state.ineffectivePasses >= settings.auto.ineffectivePassesMax ? "ineffective" : null;
}

function findTooSoon(
  { settings: { auto }, state }: Known,
  { foldsRecently }: CompactionNumbers,
): NoCompactionReason | null {
  if (foldsRecently >= auto.compactionsMax) return "too often";
  const isSoon =
    state.folds > 0 &&
    state.turnsSinceFold < auto.turnsBetweenMin &&
    state.callsSinceFold < auto.callsBetweenMin;
  return isSoon ? "too soon" : null;
}

function isWorthIt(situation: Known, weighing: Weighing): boolean {
  const { settings, limits, usedTokens } = situation;
  const isDue = usedTokens >= limits.thresholdTokens;
  if (isDue && settings.timing === "at once") return true;
  if (isAged(situation)) return true;
  const factorMin = isDue ? 1 : (settings.early?.gainFactorMin ?? Infinity);
  return weighing.gainFactor === null || weighing.gainFactor >= factorMin;
}

function toNumbers({ limits, usedTokens, state, settings, nowMs }: Known): CompactionNumbers {
  const sinceMs = nowMs - settings.auto.compactionsWindowMinutes * 60_000;
  const endMs = cooldownEndMs(state, settings.auto.cooldownSeconds);
  return {
    usedTokens,
    effectiveTokens: limits.effectiveTokens,
    thresholdTokens: limits.thresholdTokens,
    guardTokens: limits.guardTokens,
    availableTokens: limits.availableTokens,
    turnsSinceFold: state.turnsSinceFold,
    callsSinceFold: state.callsSinceFold,
    consecutiveFailures: state.consecutiveFailures,
    ineffectivePasses: state.ineffectivePasses,
    foldsRecently: state.recentFoldsMs.filter((ms) => ms > sinceMs).length,
    cooldownMsLeft: endMs === null || endMs <= nowMs ? null : endMs - nowMs,
  };
}
