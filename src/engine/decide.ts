// Whether a conversation is folded before the next call, and the numbers behind it.
import { chanceWithin } from "../core/cache/pace.ts";
import { keptMsOf } from "../core/cache/cache-state.ts";
import {
  decideFold,
  type FoldDecision,
  type FoldTrigger,
} from "../core/compaction/plan/decide-fold.ts";
import {
  findBoundary,
  type BoundarySizes,
  type Boundary,
} from "../core/compaction/plan/find-boundary.ts";
import {
  planFoldLimits,
  toBoundaryWish,
  type FoldLimits,
} from "../core/compaction/plan/fold-limits.ts";
import type { ClearingPlan } from "../core/compaction/plan/plan-clearing.ts";
import { planLadder } from "../core/compaction/plan/plan-ladder.ts";
import type { CompactionSettings } from "../core/compaction/plan/settings.ts";
import { expectCallsLeft, weighFold, type Weighing } from "../core/compaction/plan/weigh-fold.ts";
import { planBudget } from "../core/tokens/budget.ts";
import { reservesOf, settingsOf, type Compaction } from "./compaction.ts";
import type { FoldScene } from "./fold-scene.ts";
import type { PreparedCall } from "./prepare-call.ts";
import type { Session } from "./session.ts";

/** The next call, and why somebody may want a fold before it. */
export interface FoldOccasion {
  readonly session: Session;
  readonly prepared: PreparedCall;
  readonly nowMs: number;
  /** The provider said that the prompt is too long, or someone asks for a fold. */
  readonly asked?: "overflow_recovery" | "manual";
  readonly compaction: Compaction | undefined;
}

/** By sizes alone: costs the same however long the history is. */
export function decideBySize(occasion: FoldOccasion): FoldDecision<BoundarySizes> {
  const { thread } = occasion.session;
  const historyTokens = thread.end.tokens - thread.foundation.end.tokens;
  return decide(occasion, (limits) => {
    const keptTokens = Math.min(limits.keepTokens, historyTokens);
    return { keptTokens, foldedTokens: historyTokens - keptTokens, repeatedTokens: 0 };
  });
}

/** With the history at hand. */
export function decideByHistory(
  occasion: FoldOccasion,
  { history, lead }: Pick<FoldScene, "history" | "lead">,
): FoldDecision {
  const settings = settingsOf(occasion.compaction);
  const foldTurnId = lead?.turnId ?? null;
  return decide(occasion, (limits, targetTokens) =>
    findBoundary(history, toBoundaryWish(limits, settings, { targetTokens, foldTurnId })),
  );
}

export interface ClearingWish {
  readonly occasion: FoldOccasion;
  readonly boundary: Boundary | null;
  readonly trigger: FoldTrigger;
  readonly targetTokens: number;
}

/** Null where a summary is wanted, or clearing old results alone would not do. */
export function planClearingOf(
  { session, history, lead }: FoldScene,
  { occasion, boundary, trigger, targetTokens }: ClearingWish,
): ClearingPlan | null {
  const settings = settingsOf(occasion.compaction);
  const { foundation } = session.thread;
  const foldTurnId = lead?.turnId ?? null;
  const { steps } = planLadder(history, {
    usedTokens: occasion.prepared.promptTokens,
    targetTokens,
    memoryTokens: 0,
    boundary: toBoundaryWish(limitsOf(occasion), settings, { targetTokens, foldTurnId }),
    clearing: settings.clearing,
    foldTokens: (boundary?.repeatedTokens ?? 0) + settings.indexTokensMax + summaryTokensUsual,
    mayUseProvider: settings.mayUseProvider,
    mustSummarise: trigger === "manual",
    countMessage: (message) => foundation.counter.message(message),
  });
  const [step] = steps;
  return step?.kind === "clear results" && steps.length === 1 ? step.clearing : null;
}

export function limitsOf({ session, prepared, compaction }: FoldOccasion): FoldLimits {
  const { model, options } = session;
  const settings = settingsOf(compaction);
  return planFoldLimits({
    settings,
    budget: planBudget(model, prepared.assembly.usedTokens, reservesOf(compaction)),
    model,
    outputTokensMax: options.outputTokensMax,
    room: { instructionTokens, summaryTokens: settings.summaryTokensMax },
  });
}

/** What is asked for in words, with some to spare. */
const instructionTokens = 1_500;

/** What a summary takes as a rule. */
const summaryTokensUsual = 1_500;

function decide<Place extends BoundarySizes>(
  occasion: FoldOccasion,
  findPlace: (limits: FoldLimits, targetTokens: number) => Place | null,
): FoldDecision<Place> {
  const { session, prepared, nowMs, asked, compaction } = occasion;
  const limits = limitsOf(occasion);
  const settings = settingsOf(compaction);
  return decideFold({
    settings,
    limits,
    usedTokens: prepared.promptTokens,
    nowMs,
    sessionAgeMs: session.openedMs === null ? 0 : nowMs - session.openedMs,
    state: session.folding,
    ...(asked === undefined ? {} : { asked }),
    findBoundary: (targetTokens) => findPlace(limits, targetTokens),
    weigh: (sizes) => weigh(occasion, settings, sizes),
  });
}

function weigh(
  { session, prepared, nowMs, compaction }: FoldOccasion,
  settings: CompactionSettings,
  { keptTokens, repeatedTokens }: BoundarySizes,
): Weighing {
  const { model, thread, pace, folding } = session;
  const { promptTokens, plan } = prepared;
  const lifetime = model.cache.lifetimes[0]?.lifetime;
  const keptMs = lifetime === undefined ? 0 : keptMsOf(lifetime, model.cache);
  const summariser = compaction?.summariser?.model;
  return weighFold({
    model,
    at: nowMs,
    contextTokens: promptTokens,
    foundationTokens: thread.foundation.end.tokens,
    keptTokens,
    foldTokens: summaryTokensUsual + settings.indexTokensMax + repeatedTokens,
    summary: {
      kind: summariser === undefined ? "same prefix" : "separate model",
      inputTokens: promptTokens + instructionTokens,
      outputTokens: summaryTokensUsual,
      ...(summariser === undefined ? {} : { model: summariser }),
    },
    sentTokens: thread.end.tokens,
    isCacheCold: plan.expected.readTokens <= thread.foundation.end.tokens,
    coldChance: 1 - chanceWithin(pace, keptMs),
    callsLeft: expectCallsLeft(folding),
  });
}
