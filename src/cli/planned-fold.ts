// What a fold would do, as figures for people and machines.
import { ratesAt } from "../core/models/prices.ts";
import type { ModelFacts } from "../core/models/model-facts.ts";
import type { Weighing } from "../core/compaction/plan/weigh-fold.ts";
import type { CompactionPlan } from "../engine/compact-session.ts";
import { countTurns } from "../engine/fold-scene.ts";

/** What a plan does not say by itself. */
export interface PlanContext {
  readonly sessionId: string;
  readonly model: ModelFacts;
  /** Who writes the summary; null where nobody is asked. */
  readonly writer: string | null;
  readonly nowMs: number;
  readonly foundationTokens: number;
  /** The latest part of the conversation that always stays. */
  readonly keepTokens: number;
  /** On average, so far. */
  readonly callsPerTurn: number;
}

export type Planned = PlannedFold | NothingToFold;

export interface PlannedFold {
  readonly kind: "fold";
  readonly sessionId: string;
  readonly model: string;
  /** Null where an outline is made without a model. */
  readonly writer: string | null;
  readonly turnsFolded: number;
  readonly turnsKept: number;
  readonly messagesFolded: number;
  readonly messagesKept: number;
  readonly firstKeptTurnId: string;
  /** Whether the first kept turn is kept only from one of its replies on. */
  readonly isTurnCut: boolean;
  readonly foldedTokens: number;
  readonly keptTokens: number;
  readonly foundationTokens: number;
  /** What is expected to stand for the folded part. */
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

/** Of the prompt of one call. */
export interface PromptPrice {
  readonly cachedPicoUsd: bigint;
  readonly uncachedPicoUsd: bigint;
}

export interface NothingToFold {
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
  const { sessionId, model, writer, foundationTokens, keepTokens } = context;
  const { history } = plan.scene;
  const historyTokens = history.reduce((sum, { tokens }) => sum + tokens, 0);
  const turns = countTurns(plan.scene);
  const nothing = { kind: "nothing", sessionId, turns, historyTokens, keepTokens } as const;
  if (plan.kind === "nothing") {
    const why = historyTokens <= keepTokens ? "too short" : "no place";
    return { ...nothing, why, tokensBefore: null, tokensAfter: null };
  }
  const { boundary } = plan;
  const weighing = writer === null ? withoutSummary(plan.weighing) : plan.weighing;
  const { tokensBefore, tokensAfter, breakEvenCalls, callsLeft, gainFactor } = weighing;
  if (tokensAfter >= tokensBefore) return { ...nothing, why: "no gain", tokensBefore, tokensAfter };
  return {
    kind: "fold",
    sessionId,
    model: model.id,
    writer,
    turnsFolded: boundary.turnsFolded,
    turnsKept: boundary.turnsKept,
    messagesFolded: boundary.at,
    messagesKept: history.length - boundary.at,
    firstKeptTurnId: boundary.firstKeptTurnId,
    isTurnCut: boundary.kind === "call edge",
    foldedTokens: boundary.foldedTokens,
    keptTokens: boundary.keptTokens,
    foundationTokens,
    notesTokens: Math.max(0, tokensAfter - foundationTokens - boundary.keptTokens),
    tokensBefore,
    tokensAfter,
    money: toMoney(weighing, context),
    breakEvenCalls,
    breakEvenTurns:
      breakEvenCalls === null
        ? null
        : Math.ceil(breakEvenCalls / Math.max(1, context.callsPerTurn)),
    callsLeft,
    gainFactor,
  };
}

/** The same fold where no model is paid for it. */
function withoutSummary(weighing: Weighing): Weighing {
  const { rewritePicoUsd: cost, savingPerCallPicoUsd: saving, callsLeft } = weighing;
  const calls = saving <= 0n ? null : Number((cost + saving - 1n) / saving);
  return {
    ...weighing,
    summaryPicoUsd: 0n,
    costNowPicoUsd: cost,
    breakEvenCalls: cost <= 0n ? 0 : calls,
    gainFactor: cost <= 0n ? null : (Number(saving) * callsLeft) / Number(cost),
  };
}

function toMoney(weighing: Weighing, { model, nowMs }: PlanContext): PlannedMoney | null {
  const { summaryPicoUsd, rewritePicoUsd, costNowPicoUsd, savingPerCallPicoUsd } = weighing;
  const before = pricePrompt(model, nowMs, weighing.tokensBefore);
  const after = pricePrompt(model, nowMs, weighing.tokensAfter);
  if (!weighing.isPriced || before === null || after === null) return null;
  return { before, after, summaryPicoUsd, rewritePicoUsd, costNowPicoUsd, savingPerCallPicoUsd };
}

/** Uncached, it is written where the provider takes that at a price of its own, and else it is plain input. */
function pricePrompt({ prices }: ModelFacts, atMs: number, tokens: number): PromptPrice | null {
  const applied = prices.kind === "priced" ? ratesAt(prices.rows, atMs, tokens) : null;
  if (applied === null) return null;
  const { inputPicoUsd, readPicoUsd, writePicoUsd } = applied.rates;
  const writes = Object.values(writePicoUsd).filter((each) => each !== null);
  const write = writes.reduce(
    (least, each) => (each < least ? each : least),
    writes[0] ?? inputPicoUsd,
  );
  return {
    cachedPicoUsd: (readPicoUsd ?? inputPicoUsd) * BigInt(tokens),
    uncachedPicoUsd: write * BigInt(tokens),
  };
}
