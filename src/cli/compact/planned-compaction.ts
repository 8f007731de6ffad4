// What a compaction would do, as figures for people and machines.
import type { PromptPrice } from "../../core/compaction/plan/weigh-compaction.ts";
import type { CompactionPlan } from "../../engine/compaction/compact-session.ts";

/** What a plan does not say by itself. */
export interface PlanContext {
  /** Who writes the summary; null where nobody is asked. */
  readonly writer: string | null;
  /** On average, so far. */
  readonly callsPerTurn: number;
}

export type Planned = PlannedCompaction | NothingToCompact;

export interface PlannedCompaction {
  readonly kind: "compaction";
  readonly sessionId: string;
  readonly model: string;
  /** Null where an outline is made without a model. */
  readonly writer: string | null;
  readonly turnsCompacted: number;
  readonly turnsKept: number;
  readonly messagesCompacted: number;
  readonly messagesKept: number;
  readonly firstKeptTurnId: string;
  /** Whether the first kept turn is kept only from one of its replies on. */
  readonly isTurnCut: boolean;
  readonly compactedTokens: number;
  readonly keptTokens: number;
  readonly foundationTokens: number;
  /** What is expected to stand for the compacted part. */
  readonly notesTokens: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Null where the model has no price. */
  readonly money: PlannedMoney | null;
  /** Calls after the next one until it has paid; null for never. */
  readonly breakEvenCalls: number | null;
  readonly breakEvenTurns: number | null;
  /** If the session goes on about as long as it has. */
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
  /** `too short`: all of it stays. `no place`: nowhere to cut. `no gain`: what stands for it is as long. */
  readonly why: "too short" | "no place" | "no gain";
  readonly turns: number;
  readonly historyTokens: number;
  readonly keepTokens: number;
  readonly tokensBefore: number | null;
  readonly tokensAfter: number | null;
}

export function describePlan(plan: CompactionPlan, context: PlanContext): Planned {
  const { writer, callsPerTurn } = context;
  const { scene, turns, limits } = plan;
  const { session, history } = scene;
  const { id: sessionId, model, thread } = session;
  const { keepTokens } = limits;
  const foundationTokens = thread.foundation.end.tokens;
  const historyTokens = history.reduce((sum, { tokens }) => sum + tokens, 0);
  const nothing = { kind: "nothing", sessionId, turns, historyTokens, keepTokens } as const;
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
