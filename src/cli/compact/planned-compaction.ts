// What a compaction would do, as figures.
import type { PromptPrice } from "../../core/compaction/plan/weigh-compaction.ts";
import type { CompactionPlan } from "../../engine/compaction/compact-session.ts";

/** What the plan itself does not contain. */
export interface PlanContext {
  /** The model that writes the summary; null for an outline without a model. */
  readonly writer: string | null;
  /** Average so far. */
  readonly callsPerTurn: number;
}

export type Planned = PlannedCompaction | NothingToCompact;

export interface PlannedCompaction {
  readonly kind: "compaction";
  readonly sessionId: string;
  readonly model: string;
  /** Null for an outline without a model. */
  readonly writer: string | null;
  readonly turnsCompacted: number;
  readonly turnsKept: number;
  readonly messagesCompacted: number;
  readonly messagesKept: number;
  readonly firstKeptTurnId: string;
  /** Whether only the later part of the first kept turn is kept. */
  readonly isTurnCut: boolean;
  readonly compactedTokens: number;
  readonly keptTokens: number;
  /** Why less is kept than the settings ask for; null otherwise. */
  readonly tailNotice: string | null;
  readonly foundationTokens: number;
  /** Expected size of the notes that replace the compacted part. */
  readonly notesTokens: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Null if the model has no price. */
  readonly money: PlannedMoney | null;
  /** Calls after the next one until break-even; null for never. */
  readonly breakEvenCalls: number | null;
  readonly breakEvenTurns: number | null;
  /** Expected, if the session continues about as long as it has lasted. */
  readonly callsLeft: number;
  readonly gainFactor: number | null;
}

export interface PlannedMoney {
  readonly before: PromptPrice;
  readonly after: PromptPrice;
  readonly summaryPicoUsd: bigint;
  readonly rewritePicoUsd: bigint;
  readonly costNowPicoUsd: bigint;
  readonly savingPerCallPicoUsd: bigint;
}

export interface NothingToCompact {
  readonly kind: "nothing";
  readonly sessionId: string;
  /** `too short`: everything is kept. `no place`: no possible cut. `no gain`: the notes would be as long. */
  readonly why: "too short" | "no place" | "no gain";
  readonly turns: number;
  readonly historyTokens: number;
  readonly keepTokens: number;
  /** Why less is kept than the settings ask for; null otherwise. */
  readonly tailNotice: string | null;
  readonly tokensBefore: number | null;
  readonly tokensAfter: number | null;
}

export function describePlan(plan: CompactionPlan, context: PlanContext): Planned {
  const { writer, callsPerTurn } = context;
  const { input, turns, limits } = plan;
  const { session, history } = input;
  const { id: sessionId, model, thread } = session;
  const { keepTokens, tailNotice } = limits;
  const foundationTokens = thread.foundation.end.tokens;
  const historyTokens = history.reduce((sum, { tokens }) => sum + tokens, 0);
  const known = { sessionId, turns, historyTokens, keepTokens, tailNotice };
  const nothing = { kind: "nothing", ...known } as const;
  if (plan.kind === "nothing") {
    const why = historyTokens <= keepTokens ? "too short" : "no place";
    return { ...nothing, why, tokensBefore: null, tokensAfter: null };
  }
  const { boundary, weighing } = plan;
  const { tokensBefore, tokensAfter, breakEvenCalls, callsLeft, gainFactor } = weighing;
  if (tokensAfter >= tokensBefore) return { ...nothing, why: "no gain", tokensBefore, tokensAfter };
  return {
    kind: "compaction",
    sessionId,
    model: model.id,
    writer,
    turnsCompacted: boundary.turnsCompacted,
    turnsKept: boundary.turnsKept,
    messagesCompacted: boundary.at,
    messagesKept: history.length - boundary.at,
    firstKeptTurnId: boundary.firstKeptTurnId,
    isTurnCut: boundary.kind === "call edge",
    compactedTokens: boundary.compactedTokens,
    keptTokens: boundary.keptTokens,
    tailNotice,
    foundationTokens,
    notesTokens: Math.max(0, tokensAfter - foundationTokens - boundary.keptTokens),
    tokensBefore,
    tokensAfter,
    money: toMoney(plan),
    breakEvenCalls,
    breakEvenTurns:
      breakEvenCalls === null ? null : Math.ceil(breakEvenCalls / Math.max(1, callsPerTurn)),
    callsLeft,
    gainFactor,
  };
}

function toMoney({
  weighing,
  prices,
}: Extract<CompactionPlan, { readonly kind: "compaction" }>): PlannedMoney | null {
  const { summaryPicoUsd, rewritePicoUsd, costNowPicoUsd, savingPerCallPicoUsd } = weighing;
  if (!weighing.isPriced || prices === null) return null;
  return { ...prices, summaryPicoUsd, rewritePicoUsd, costNowPicoUsd, savingPerCallPicoUsd };
}
