// Decides whether to compact a conversation before the next call, and gives the numbers behind it.
import { countsAs, keptMsOf } from "../../cache/cache-state.ts";
import {
  settingsOf,
  type CompactionRules,
  reservesOf,
  recallHintOf,
} from "../../session/compaction-rules.ts";
import type { Session } from "../../session/session.ts";
import type { PreparedCall } from "../prepare-call.ts";
import { chanceWithin } from "../../cache/pace.ts";
import {
  decideCompaction,
  type CompactionDecision,
  type CompactionTrigger,
} from "../../compaction/plan/decide-compaction.ts";
import {
  findBoundary,
  type BoundarySizes,
  type Boundary,
} from "../../compaction/plan/find-boundary.ts";
import {
  planCompactionLimits,
  planNoteSizes,
  toBoundaryWish,
  type CompactionLimits,
} from "../../compaction/plan/compaction-limits.ts";
import { planClearing, type ClearingPlan } from "../../compaction/plan/plan-clearing.ts";
import type { CompactionSettings } from "../../compaction/plan/settings.ts";
import {
  expectCallsLeft,
  weighCompaction,
  type Weighing,
} from "../../compaction/plan/weigh-compaction.ts";
import { planBudget } from "../../tokens/budget.ts";
import type { CompactionInput } from "./compaction-input.ts";

/** The next call, and the reason for a compaction before it. */
export interface CompactionOccasion {
  readonly session: Session;
  /** The call that would be sent without a compaction. */
  readonly prepared: PreparedCall;
  readonly nowMs: number;
  /** The provider found the prompt too long, or a person asked for a compaction. */
  readonly asked?: "overflow_recovery" | "manual";
  /** False if no model may be called: an outline then replaces the compacted part. */
  readonly mayAskModel?: boolean;
  /** Memory in this prompt that can be left out; 0 by default. */
  readonly memoryTokens?: number;
  readonly compaction: CompactionRules | undefined;
}

/** Decides by sizes alone. The cost does not grow with the history. */
export function decideBySize(occasion: CompactionOccasion): CompactionDecision<BoundarySizes> {
  const { thread } = occasion.session;
  const historyTokens = thread.end.tokens - thread.foundation.end.tokens;
  return decide(occasion, (limits) => {
    const keptTokens = Math.min(limits.keepTokens, historyTokens);
    return { keptTokens, compactedTokens: historyTokens - keptTokens, repeatedTokens: 0 };
  });
}

/** Decides with the history at hand. */
export function decideByHistory(
  occasion: CompactionOccasion,
  { history }: Pick<CompactionInput, "history">,
): CompactionDecision {
  const settings = settingsOf(occasion.compaction);
  return decide(occasion, (limits, targetTokens) =>
    findBoundary(history, toBoundaryWish(limits, settings, targetTokens)),
  );
}

/** Whether an earlier attempt found nothing to compact and little was added since: then the history need not be read again. */
export function isKnownWhole({ session, prepared, asked, ...more }: CompactionOccasion): boolean {
  const { noPlace } = session.compactionState;
  if (noPlace === null || asked !== undefined || noPlace.headTurnId !== session.headTurnId) {
    return false;
  }
  const { keepTokens } = limitsOf({ session, prepared, ...more });
  return prepared.promptTokens < noPlace.promptTokens + keepTokens / 4;
}

/** Null if a summary is wanted or frees more. Clearing must free enough alone, unless nothing else can be compacted. */
export function planClearingOf(
  { session, history }: CompactionInput,
  { prepared: { promptTokens }, compaction }: CompactionOccasion,
  { trigger, targetTokens }: { readonly trigger: CompactionTrigger; readonly targetTokens: number },
  boundary: Boundary | null,
): ClearingPlan | null {
  if (trigger === "manual" || promptTokens <= targetTokens) return null;
  const { counter } = session.thread.foundation;
  const lastTurnId = history.at(-1)?.turnId;
  const lastTurn = history.findIndex(({ turnId }) => turnId === lastTurnId);
  const plan = planClearing(history, {
    settings: settingsOf(compaction).clearing,
    // Clearing does not touch the kept part of the history. Without a boundary only the last turn is kept.
    protectedFrom: boundary?.at ?? Math.max(0, lastTurn),
    contextTokens: promptTokens,
    countMessage: (message) => counter.message(message),
    recallHint: recallHintOf(session),
  });
  const isEnough = plan !== null && promptTokens - plan.savedTokens <= targetTokens;
  return isEnough || boundary === null ? plan : null;
}

export function limitsOf({
  session,
  prepared,
  compaction,
}: Pick<CompactionOccasion, "session" | "prepared" | "compaction">): CompactionLimits {
  const { model, options } = session;
  const settings = settingsOf(compaction);
  return planCompactionLimits({
    settings,
    budget: planBudget(model, prepared.assembly.usedTokens, reservesOf(compaction)),
    model,
    outputTokensMax: options.outputTokensMax,
    // A longer summary is written only where there is room for it.
    room: planNoteSizes(settings, model, 0),
  });
}

/** The usual length of a summary. An outline uses all the room it gets. */
const summaryTokensUsual = 1_500;

function decide<Place extends BoundarySizes>(
  occasion: CompactionOccasion,
  findPlace: (limits: CompactionLimits, targetTokens: number) => Place | null,
): CompactionDecision<Place> {
  const { session, prepared, nowMs, asked, memoryTokens = 0, compaction } = occasion;
  const limits = limitsOf(occasion);
  const settings = settingsOf(compaction);
  return decideCompaction({
    settings,
    limits,
    usedTokens: prepared.promptTokens,
    marginTokens: marginOf(session, prepared),
    memoryTokens,
    nowMs,
    sessionAgeMs: session.openedMs === null ? 0 : nowMs - session.openedMs,
    state: session.compactionState,
    ...(asked === undefined ? {} : { asked }),
    findBoundary: (targetTokens) => findPlace(limits, targetTokens),
    weigh: (sizes) => weigh(occasion, settings, sizes),
  });
}

/** A share of the messages that no call has sent yet, unless the provider counted them. */
const eventMarginShare = 0.1;

function marginOf({ thread }: Session, { assembly, countedTokens }: PreparedCall): number {
  if (countedTokens !== undefined) return 0;
  const { blocks } = assembly;
  const total = blocks.length === 0 ? 0 : (blocks.at(blocks.length - 1)?.endTokens ?? 0);
  return Math.ceil(eventMarginShare * Math.max(0, total - thread.end.tokens));
}

function weigh(
  { session, prepared, nowMs, compaction, mayAskModel = true }: CompactionOccasion,
  settings: CompactionSettings,
  { keptTokens, repeatedTokens, compactedTokens }: BoundarySizes,
): Weighing {
  const { model, thread, pace, compactionState } = session;
  const { promptTokens, plan } = prepared;
  const lifetime = model.cache.lifetimes[0]?.lifetime;
  const keptMs = lifetime === undefined ? 0 : keptMsOf(lifetime, model.cache);
  const summariser = compaction?.summariser?.model;
  const sizes = planNoteSizes(settings, model, compactedTokens);
  const summaryTokens = Math.min(summaryTokensUsual, sizes.summaryTokens);
  const notesTokens = mayAskModel ? summaryTokens : Math.min(sizes.outlineTokens, compactedTokens);
  return weighCompaction({
    model,
    at: nowMs,
    contextTokens: promptTokens,
    foundationTokens: thread.foundation.end.tokens,
    keptTokens,
    // The user's words are not known here, and few: a twentieth of what is compacted at most.
    compactionTokens: notesTokens + Math.min(sizes.indexTokens, compactedTokens) + repeatedTokens,
    summary: mayAskModel
      ? {
          kind: summariser === undefined ? "same prefix" : "separate model",
          inputTokens: promptTokens + sizes.instructionTokens,
          outputTokens: summaryTokens,
          ...(summariser === undefined ? {} : { model: summariser }),
        }
      : { kind: "none", inputTokens: 0, outputTokens: 0 },
    sentTokens: thread.end.tokens,
    isCacheCold: plan.expected.readTokens <= thread.foundation.end.tokens,
    coldChance: 1 - chanceWithin(pace, keptMs),
    callsLeft: expectCallsLeft(compactionState),
  });
}

/** Estimates of unbilled tokens are usually off by less than this. */
const errorShare = 0.2;

/** Tokens that the last reply billed are exact; the rest is an estimate. */
export function isNearLimit(
  session: Session,
  prepared: PreparedCall,
  compaction: CompactionRules | undefined,
): boolean {
  const { promptTokens, assembly } = prepared;
  const known = countsAs(session.cache.measured, assembly.blocks)?.tokens ?? 0;
  const margin = errorShare * Math.max(0, promptTokens - known);
  const { thresholdTokens, guardTokens } = limitsOf({ session, prepared, compaction });
  const limits = settingsOf(compaction).isEnabled ? [thresholdTokens, guardTokens] : [guardTokens];
  return limits.some((limit) => Math.abs(limit - promptTokens) <= margin);
}
