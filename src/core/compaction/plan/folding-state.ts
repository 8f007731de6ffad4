// What a session knows of its folds: how long ago, how often, and how they went. A small JSON value.
import { isCount } from "../../message/fields.ts";

export interface FoldingState {
  /** Since the last fold, or since the session began. */
  readonly turnsSinceFold: number;
  readonly callsSinceFold: number;
  readonly calls: number;
  readonly folds: number;
  readonly failures: number;
  readonly consecutiveFailures: number;
  readonly lastFailureMs: number | null;
  /** Folds in a row that freed too little. */
  readonly ineffectivePasses: number;
  /** Newest last; bounded. */
  readonly recentFoldsMs: readonly number[];
  /** Why the last fold that was due did not begin; null since one began. */
  readonly lastSkip: string | null;
  /** Where there was nothing to fold the last time; null since there was, or where nobody looked. */
  readonly noPlace: NoPlace | null;
}

/** The turn the session went on from, and how long the prompt was. */
export interface NoPlace {
  readonly headTurnId: string | null;
  readonly promptTokens: number;
}

const recentFoldsMax = 16;

export function openFoldingState(): FoldingState {
  return {
    turnsSinceFold: 0,
    callsSinceFold: 0,
    calls: 0,
    folds: 0,
    failures: 0,
    consecutiveFailures: 0,
    lastFailureMs: null,
    ineffectivePasses: 0,
    recentFoldsMs: [],
    lastSkip: null,
    noPlace: null,
  };
}

export function afterCall(state: FoldingState): FoldingState {
  return { ...state, calls: state.calls + 1, callsSinceFold: state.callsSinceFold + 1 };
}

export function afterTurn(state: FoldingState): FoldingState {
  return { ...state, turnsSinceFold: state.turnsSinceFold + 1 };
}

export interface FoldOutcome {
  readonly nowMs: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Of `tokensBefore`; a fold that frees less was ineffective. */
  readonly effectiveShareMin: number;
  /** What became of the summary: `failed` where notes without a model had to do, `none` where nobody was asked. */
  readonly summary?: "made" | "failed" | "none";
}

export function afterFold(before: FoldingState, outcome: FoldOutcome): FoldingState {
  const { nowMs, tokensBefore, tokensAfter, effectiveShareMin, summary = "made" } = outcome;
  const isEffective = tokensBefore - tokensAfter >= effectiveShareMin * tokensBefore;
  const state = summary === "failed" ? afterFailure(before, nowMs) : before;
  return {
    ...state,
    turnsSinceFold: 0,
    callsSinceFold: 0,
    folds: state.folds + 1,
    ...(summary === "made" ? { consecutiveFailures: 0, lastFailureMs: null } : {}),
    ineffectivePasses: isEffective ? 0 : state.ineffectivePasses + 1,
    recentFoldsMs: [...state.recentFoldsMs, nowMs].slice(-recentFoldsMax),
    lastSkip: null,
    noPlace: null,
  };
}

export function afterFailure(state: FoldingState, nowMs: number): FoldingState {
  return {
    ...state,
    failures: state.failures + 1,
    consecutiveFailures: state.consecutiveFailures + 1,
    lastFailureMs: nowMs,
    lastSkip: null,
  };
}

/** Until when no summary is asked for after a failure; null where nothing speaks against it. */
export function cooldownEndMs(
  { consecutiveFailures, lastFailureMs }: FoldingState,
  cooldownSeconds: readonly number[],
): number | null {
  if (lastFailureMs === null || consecutiveFailures === 0) return null;
  const seconds = cooldownSeconds[consecutiveFailures - 1] ?? cooldownSeconds.at(-1) ?? 0;
  return lastFailureMs + seconds * 1000;
}

/** From stored JSON; what is missing or strange is as at the beginning. */
export function toFoldingState(value: unknown): FoldingState {
  const fields = new Map(Object.entries(typeof value === "object" && value !== null ? value : {}));
  const count = (name: keyof FoldingState): number => {
    const field: unknown = fields.get(name);
    return isCount(field) ? field : 0;
  };
  const lastFailureMs: unknown = fields.get("lastFailureMs");
  const recent: unknown = fields.get("recentFoldsMs");
  const lastSkip: unknown = fields.get("lastSkip");
  return {
    turnsSinceFold: count("turnsSinceFold"),
    callsSinceFold: count("callsSinceFold"),
    calls: count("calls"),
    folds: count("folds"),
    failures: count("failures"),
    consecutiveFailures: count("consecutiveFailures"),
    lastFailureMs: isCount(lastFailureMs) ? lastFailureMs : null,
    ineffectivePasses: count("ineffectivePasses"),
    recentFoldsMs: Array.isArray(recent) ? recent.filter(isCount).slice(-recentFoldsMax) : [],
    lastSkip: typeof lastSkip === "string" ? lastSkip : null,
    noPlace: toNoPlace(fields.get("noPlace")),
  };
}

function toNoPlace(value: unknown): NoPlace | null {
  if (typeof value !== "object" || value === null) return null;
  const headTurnId: unknown = "headTurnId" in value ? value.headTurnId : undefined;
  const promptTokens: unknown = "promptTokens" in value ? value.promptTokens : undefined;
  if (headTurnId !== null && typeof headTurnId !== "string") return null;
  return isCount(promptTokens) ? { headTurnId, promptTokens } : null;
}
