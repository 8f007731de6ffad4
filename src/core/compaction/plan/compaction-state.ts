// What a session knows about its compactions: how long ago, how often, and their outcomes. A small JSON value.
import { isCount, isObject } from "../../message/fields.ts";

export interface CompactionState {
  /** Since the last compaction, or since the session began. */
  readonly turnsSinceFold: number;
  readonly callsSinceFold: number;
  readonly calls: number;
  readonly folds: number;
  readonly failures: number;
  readonly consecutiveFailures: number;
  readonly lastFailureMs: number | null;
  /** Consecutive compactions that freed too little. */
  readonly ineffectivePasses: number;
  /** Newest last; bounded. */
  readonly recentFoldsMs: readonly number[];
  /** Why the last due compaction did not begin. Null after one began. */
  readonly lastSkip: string | null;
  /** The last place where nothing could be compacted. Null if something could, or if it was never checked. */
  readonly noPlace: NoPlace | null;
  /** How many compactions there were when memory was last saved before one. Absent if it never was. */
  readonly memoryFlushedAt?: number;
}

/** The head turn at that time, and the length of the prompt. */
export interface NoPlace {
  readonly headTurnId: string | null;
  readonly promptTokens: number;
}

const recentCompactionsMax = 16;

export function openCompactionState(): CompactionState {
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

export function afterCall(state: CompactionState): CompactionState {
  return { ...state, calls: state.calls + 1, callsSinceFold: state.callsSinceFold + 1 };
}

export function afterTurn(state: CompactionState): CompactionState {
  return { ...state, turnsSinceFold: state.turnsSinceFold + 1 };
}

export interface CompactionEffect {
  readonly nowMs: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** A compaction that frees less than this share of `tokensBefore` was ineffective. */
  readonly effectiveShareMin: number;
  /** `failed`: notes without a model replaced the summary. `none`: no model was asked. */
  readonly summary?: "made" | "failed" | "none";
}

export function afterCompaction(
  before: CompactionState,
  outcome: CompactionEffect,
): CompactionState {
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
    recentFoldsMs: [...state.recentFoldsMs, nowMs].slice(-recentCompactionsMax),
    lastSkip: null,
    noPlace: null,
  };
}

export function afterFailure(state: CompactionState, nowMs: number): CompactionState {
  return {
    ...state,
    failures: state.failures + 1,
    consecutiveFailures: state.consecutiveFailures + 1,
    lastFailureMs: nowMs,
    lastSkip: null,
  };
}

/** Until when no summary is requested after a failure. Null if one may be requested. */
export function cooldownEndMs(
  { consecutiveFailures, lastFailureMs }: CompactionState,
  cooldownSeconds: readonly number[],
): number | null {
  if (lastFailureMs === null || consecutiveFailures === 0) return null;
  const seconds = cooldownSeconds[consecutiveFailures - 1] ?? cooldownSeconds.at(-1) ?? 0;
  return lastFailureMs + seconds * 1000;
}

/** From stored JSON. Missing or invalid values become the initial ones. */
export function toCompactionState(value: unknown): CompactionState {
  const stored = isObject(value) ? value : {};
  const count = (name: keyof CompactionState): number => {
    const field = stored[name];
    return isCount(field) ? field : 0;
  };
  const { lastFailureMs, recentFoldsMs: recent, lastSkip, noPlace, memoryFlushedAt } = stored;
  return {
    turnsSinceFold: count("turnsSinceFold"),
    callsSinceFold: count("callsSinceFold"),
    calls: count("calls"),
    folds: count("folds"),
    failures: count("failures"),
    consecutiveFailures: count("consecutiveFailures"),
    lastFailureMs: isCount(lastFailureMs) ? lastFailureMs : null,
    ineffectivePasses: count("ineffectivePasses"),
    recentFoldsMs: Array.isArray(recent) ? recent.filter(isCount).slice(-recentCompactionsMax) : [],
    lastSkip: typeof lastSkip === "string" ? lastSkip : null,
    noPlace: toNoPlace(noPlace),
    ...(isCount(memoryFlushedAt) ? { memoryFlushedAt } : {}),
  };
}

function toNoPlace(value: unknown): NoPlace | null {
  if (!isObject(value)) return null;
  const { headTurnId, promptTokens } = value;
  const isPlace = headTurnId === null || typeof headTurnId === "string";
  return isPlace && isCount(promptTokens) ? { headTurnId, promptTokens } : null;
}
