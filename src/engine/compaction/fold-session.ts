// One fold: decide, lock, make what stands for the folded part, commit; or leave everything as it is.
import type { FoldDecision, FoldNumbers } from "../../core/compaction/plan/decide-fold.ts";
import type { Boundary, BoundarySizes } from "../../core/compaction/plan/find-boundary.ts";
import { afterFailure } from "../../core/compaction/plan/folding-state.ts";
import type { ClearingPlan } from "../../core/compaction/plan/plan-clearing.ts";
import type { FoldLock, OpenTurn } from "../../core/ledger/ledger.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { Edges } from "../edges.ts";
import { settingsOf } from "../../core/session/compaction-rules.ts";
import {
  decideByHistory,
  decideBySize,
  isKnownWhole,
  planClearingOf,
  type FoldOccasion,
} from "../../core/turn/compaction/decide.ts";
import {
  createFoldEvents,
  type FoldEvents,
  type FoldFailure,
  type SkipOutcome,
} from "../../core/turn/compaction/compaction-events.ts";
import { readScene } from "./read-input.ts";
import type { FoldScene } from "../../core/turn/compaction/compaction-input.ts";
import { freedSkills } from "../../core/turn/compaction/freed-skills.ts";
import type { PreparedCall } from "../../core/turn/prepare-call.ts";
import { replaceHead, type ReplacedHead } from "./replace-head.ts";
import { toStateText } from "../../core/session/session-state.ts";
import type { Session } from "../../core/session/session.ts";
import { spend } from "../../core/session/spent.ts";
import { knownCost, sumCalls } from "../../core/session/summary-bill.ts";
import { cancelledByCaller } from "./summarise-attempts.ts";
import type { SummaryCall } from "../../core/session/summary-bill.ts";
import type { Teller } from "../tell.ts";
import {
  writeFold,
  type Replacement,
  type WrittenFold,
} from "../../core/turn/compaction/write-fold.ts";

export interface FoldRequest {
  readonly session: Session;
  /** The turn that runs; null between turns. */
  readonly open: OpenTurn | null;
  /** How many of its messages no call has sent yet. */
  readonly stagedCount: number;
  /** The call that would be sent without a fold. */
  readonly prepared: PreparedCall;
  readonly nowMs: number;
  readonly asked?: "overflow_recovery" | "manual";
  /** What the summary should dwell on. */
  readonly focus?: string;
  /** False where no model is to be asked: then an outline stands for what is folded. */
  readonly mayAskModel?: boolean;
}

export type FoldRun =
  | ({ readonly kind: "folded" } & WrittenFold)
  | {
      readonly kind: "unchanged";
      /** With what the attempt taught. */
      readonly session: Session;
      /** For people. */
      readonly why: string;
      /** Nothing remains, and nothing could be folded: then memory goes first. */
      readonly isTight: boolean;
      /** What was paid for in vain. */
      readonly spent: readonly SummaryCall[];
    };

/** Never throws for what a provider does: then the history goes out as it was. */
export async function foldWhereDue(
  request: FoldRequest,
  edges: Edges,
  teller: Teller,
): Promise<FoldRun> {
  const { session, open, stagedCount, prepared, nowMs, asked } = request;
  const { compaction } = edges;
  const why = asked === undefined ? {} : { asked };
  const occasion: FoldOccasion = { session, prepared, nowMs, compaction, ...why };
  const bySize = decideBySize(occasion);
  if (!bySize.fold) return skip(session, bySize, teller);
  if (isKnownWhole(occasion)) {
    const { trigger, weighing, numbers } = bySize;
    return skip(
      session,
      { fold: false, reason: "no boundary", trigger, weighing, numbers },
      teller,
    );
  }
  const scene = await readScene(session, open, stagedCount, edges.ledger);
  const decision = decideByHistory(occasion, scene);
  const { trigger } = bySize;
  const boundary = decision.fold ? decision.boundary : null;
  const clearing =
    decision.fold || decision.reason === "no boundary"
      ? planClearingOf(scene, { ...bySize, occasion, boundary })
      : null;
  if (!decision.fold && clearing === null) {
    const { promptTokens } = prepared;
    const noPlace = { headTurnId: session.headTurnId, promptTokens };
    const folding =
      decision.reason === "no boundary" ? { ...session.folding, noPlace } : session.folding;
    return skip({ ...session, folding }, decision, teller);
  }
  const events = createFoldEvents(teller, trigger);
  const lock = await edges.ledger.lockFolding(session.id);
  if (lock === null) {
    events.skipped("lock_held");
    const text = "another process folds this session";
    return { kind: "unchanged", session, why: text, isTight: false, spent: [] };
  }
  try {
    const mayAskModel = bySize.mayAskModel && request.mayAskModel !== false;
    const due = { ...bySize, boundary, clearing, mayAskModel };
    return await foldLocked({ request, scene, due, lock, events }, edges);
  } finally {
    await lock.release().catch(() => {});
  }
}

function skip(
  session: Session,
  { trigger, reason, numbers }: Extract<FoldDecision, { readonly fold: false }>,
  teller: Teller,
): FoldRun {
  const isTight = trigger === "context_limit" && isFull(numbers);
  const outcome = skipOutcomes[reason];
  const isNews = outcome !== undefined && session.folding.lastSkip !== outcome;
  const unchanged = { kind: "unchanged", why: reason, isTight, spent: [] } as const;
  if (trigger === null || !isNews) return { ...unchanged, session };
  createFoldEvents(teller, trigger).skipped(outcome);
  // Told once, not with every call until it changes.
  const folding = { ...session.folding, lastSkip: outcome };
  return { ...unchanged, session: { ...session, folding } };
}

function isFull({ usedTokens, availableTokens }: FoldNumbers): boolean {
  return usedTokens >= availableTokens;
}

const skipOutcomes: Readonly<Partial<Record<string, SkipOutcome>>> = {
  "no boundary": "no_boundary",
  "too soon": "too_soon",
  "breaker open": "breaker_open",
  ineffective: "breaker_open",
  "too often": "breaker_open",
};

export interface LockedFold {
  readonly request: FoldRequest;
  readonly scene: FoldScene;
  readonly due: DueFold;
  readonly lock: FoldLock;
  readonly events: FoldEvents;
}

/** What was decided, and where: one of both places is known. */
export interface DueFold extends Omit<
  Extract<FoldDecision<BoundarySizes>, { readonly fold: true }>,
  "boundary"
> {
  readonly boundary: Boundary | null;
  /** Where clearing old results frees enough. */
  readonly clearing: ClearingPlan | null;
}

async function foldLocked(locked: LockedFold, edges: Edges): Promise<FoldRun> {
  const { scene, due, events, lock } = locked;
  const { session } = scene;
  const { boundary, targetTokens, numbers } = due;
  const startMs = edges.now();
  edges.onPhase?.("compacting");
  events.started({
    turns_to_fold: boundary?.turnsFolded ?? 0,
    tokens_before: numbers.usedTokens,
    tokens_wanted: targetTokens,
  });
  const made = await replaceHead(locked, startMs, edges);
  const bill = knownCost(sumCalls(made.calls));
  const learned = { ...session, cache: made.cache };
  const isStandIn = isStandInFor(made);
  const failureOf = (why: Pick<FoldFailure, "errorClass" | "reasons">): FoldFailure => {
    return { ...why, costPicoUsd: bill, durationMs: edges.now() - startMs };
  };
  const failed = (why: Pick<FoldFailure, "errorClass" | "reasons">): Promise<FoldRun> => {
    const failure = { ...failureOf(why), ...(isStandIn ? { costPicoUsd: null } : {}) };
    return giveUp(locked, learned, { ...failure, spent: made.calls }, edges);
  };
  if (edges.signal?.aborted === true) {
    const reasons = [...new Set([...made.reasons, cancelledByCaller])];
    return failed({ errorClass: "other", reasons });
  }
  if (made.kind === "failed") return failed({ errorClass: "call_failed", reasons: made.reasons });
  const { replacement } = made;
  // The fold goes on without a model; that none could be had is told all the same.
  if (isStandIn) events.failed(failureOf({ errorClass: "call_failed", reasons: made.reasons }));
  const written = writeFold(scene, replacement, learned, settingsOf(edges.compaction));
  const { tokensBefore, tokensAfter } = written.fold.details;
  if (tokensAfter >= tokensBefore) {
    const reasons = [`it would leave ${tokensAfter} tokens of ${tokensBefore}`];
    return failed({ errorClass: "summary_invalid", reasons });
  }
  const isWritten = replacement.by !== "nobody";
  const author = { isWritten, costPicoUsd: isWritten ? bill : null };
  const told = events.completed(written.fold, author);
  try {
    if (scene.open === null) await lock.commit(written.fold, told.events);
    else await locked.request.open?.fold(written.fold, lock, told.events);
  } catch (error) {
    if (!isLost(error)) throw error;
    return failed({ errorClass: "lock_lost", reasons: [error.message] });
  }
  told.deliver();
  releaseSkills(replacement, edges);
  return { kind: "folded", ...written };
}

/** Notes without a model where a summary was asked for and could not be had. */
function isStandInFor(made: ReplacedHead): boolean {
  return made.kind === "replaced" && made.replacement.summaryState === "failed";
}

function releaseSkills({ resultsGone }: Replacement, { compaction }: Edges): void {
  const freed = freedSkills(resultsGone, compaction?.skills);
  compaction?.skills?.releaseFolded(freed.map(({ name }) => name));
}

/** Someone else folded meanwhile, or holds the lock now. A turn that lost its lease cannot go on at all. */
function isLost(error: unknown): error is StrataError {
  return error instanceof StrataError && error.code === "conflict";
}

function unlessLost(error: unknown): void {
  if (!isLost(error)) throw error;
}

/** The history stays; what was paid for is booked with the next call. */
async function giveUp(
  { events, due, scene, lock }: LockedFold,
  learned: Session,
  failure: FoldFailure & { readonly spent: readonly SummaryCall[] },
  edges: Edges,
): Promise<FoldRun> {
  const { spent } = failure;
  const isCancelled = edges.signal?.aborted === true;
  // Nothing went wrong where somebody changed their mind.
  const folding = isCancelled ? learned.folding : afterFailure(learned.folding, edges.now());
  const session: Session = { ...learned, folding, spent: spend(learned.spent, spent) };
  events.failed(failure);
  // In a turn it is kept with the next call. Whoever lost the lock has nothing to keep any more.
  if (scene.open === null)
    await lock.giveUp(toStateText(session, session.headTurnId)).catch(unlessLost);
  const why = failure.reasons.join("; ");
  const isTight = due.trigger === "context_limit" && isFull(due.numbers);
  return { kind: "unchanged", session, why, isTight, spent };
}
