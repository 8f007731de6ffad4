// Adds a result to a compaction: what was decided, written and paid for, and its events.
import { assert } from "../../assert.ts";
import { afterFailure } from "../../compaction/plan/compaction-state.ts";
import type { CompactionNumbers } from "../../compaction/plan/decide-compaction.ts";
import { settingsOf, type CompactionRules } from "../../session/compaction-rules.ts";
import type { Session } from "../../session/session.ts";
import { spend, knownCost, sumCalls } from "../../session/summary-bill.ts";
import type {
  Compacting,
  CompactionRequest,
  CompactionResult,
  DueCompaction,
  LockedCompaction,
  Paid,
} from "./compacting.ts";
import {
  compactionCompleted,
  compactionFailed,
  compactionSkipped,
  compactionStarted,
  type CompactionFailure,
  isFull,
  skip,
} from "./compaction-events.ts";
import {
  decideByHistory,
  decideBySize,
  isKnownWhole,
  planClearingOf,
  type CompactionOccasion,
} from "./decide.ts";
import { freedSkills } from "./compaction-input.ts";
import {
  notesOfProvider,
  notesOfSummary,
  outline,
  toNotesQuestion,
  type MadeNotes,
} from "./make-notes.ts";
import { clearedReplacement, notedReplacement } from "./to-replacement.ts";
import { writeCompaction } from "./write-compaction.ts";

export const cancelledByCaller = "cancelled by the caller";

/** Decides by sizes alone. The cost does not grow with the history. */
export function beginCompaction(request: CompactionRequest, rules: CompactionRules): Compacting {
  const { session } = request;
  const base = {
    request,
    rules,
    calls: [],
    reasons: [],
    cache: session.cache,
    isAborted: false,
    news: [],
  };
  const occasion = toOccasion(request, rules);
  const bySize = decideBySize(occasion);
  if (!bySize.isDue) return { ...base, ...skip(session, bySize) };
  if (isKnownWhole(occasion)) {
    const { trigger, weighing, numbers } = bySize;
    const reason = "no boundary" as const;
    return { ...base, ...skip(session, { isDue: false, reason, trigger, weighing, numbers }) };
  }
  return { ...base, at: { after: "begin", bySize } };
}

function toOccasion(request: CompactionRequest, compaction: CompactionRules): CompactionOccasion {
  const { session, prepared, nowMs, asked } = request;
  return { session, prepared, nowMs, compaction, ...(asked === undefined ? {} : { asked }) };
}

export function applyCompactionResult(before: Compacting, result: CompactionResult): Compacting {
  const work = before.news.length === 0 ? before : { ...before, news: [] };
  switch (result.did) {
    case "read history":
      return decide(work, result);
    case "lock":
      return locked(work, result);
    case "ask provider":
      return askedProvider(work, result);
    case "summarise":
      return summarised(work, result);
    case "renew foundation":
      return written(work, result);
    case "commit":
      return committed(work, result);
    case "keep state":
      assert(work.at.after === "fail", "state is kept after a failure");
      return { ...work, at: { after: "end", outcome: work.at.outcome } };
  }
}

type ResultOf<Did extends CompactionResult["did"]> = Extract<
  CompactionResult,
  { readonly did: Did }
>;

function decide(work: Compacting, { input, skillsLoaded }: ResultOf<"read history">): Compacting {
  const { at, request, rules } = work;
  assert(at.after === "begin", "the history is read once");
  const { session, prepared } = request;
  const occasion = toOccasion(request, rules);
  const decision = decideByHistory(occasion, input);
  const boundary = decision.isDue ? decision.boundary : null;
  const mayClear = decision.isDue || decision.reason === "no boundary";
  const clearing = mayClear ? planClearingOf(input, { ...at.bySize, occasion, boundary }) : null;
  if (!decision.isDue && clearing === null) {
    const noPlace = { headTurnId: session.headTurnId, promptTokens: prepared.promptTokens };
    const compactionState = mayClear
      ? { ...session.compactionState, noPlace }
      : session.compactionState;
    return { ...work, ...skip({ ...session, compactionState }, decision) };
  }
  const mayAskModel = at.bySize.mayAskModel && request.mayAskModel !== false;
  const due: DueCompaction = {
    ...at.bySize,
    input,
    skillsLoaded,
    boundary,
    clearing,
    mayAskModel,
  };
  return { ...work, at: { after: "read history", due } };
}

function locked(work: Compacting, { isLocked, nowMs }: ResultOf<"lock">): Compacting {
  const { at, request, rules } = work;
  assert(at.after === "read history", "a compaction is locked once it is due");
  const { due } = at;
  const { trigger, boundary, clearing, input, skillsLoaded, numbers, targetTokens } = due;
  const { session, focus } = request;
  if (!isLocked) {
    const why = "another process compacts this session";
    const outcome = { kind: "unchanged", session, why, isTight: false, spent: [] } as const;
    const news = [compactionSkipped(trigger, "lock_held")];
    return { ...work, news, at: { after: "end", outcome } };
  }
  const question =
    clearing !== null || boundary === null
      ? null
      : toNotesQuestion({ input, boundary, skillsLoaded, focus, rules });
  const started = compactionStarted(trigger, {
    turns_to_fold: boundary?.turnsCompacted ?? 0,
    tokens_before: numbers.usedTokens,
    tokens_wanted: targetTokens,
  });
  const next = { ...due, question, startMs: nowMs };
  return { ...work, news: [started], at: { after: "lock", locked: next } };
}

function askedProvider(work: Compacting, { outcome }: ResultOf<"ask provider">): Compacting {
  const own = needLocked(work);
  if (outcome.kind === "unavailable") {
    const reasons = [...work.reasons, outcome.why];
    return { ...work, reasons, at: { after: "ask provider", locked: own } };
  }
  const paid = pay(work, outcome);
  if (outcome.kind === "failed") {
    const reasons = [...work.reasons, ...outcome.reasons];
    return { ...paid, reasons, at: { after: "ask provider", locked: own } };
  }
  assert(own.question !== null, "the provider was asked a question");
  const notes = notesOfProvider(own.question, outcome);
  return { ...paid, at: { after: "write notes", locked: own, notes } };
}

function summarised(work: Compacting, { outcome, nowMs }: ResultOf<"summarise">): Compacting {
  const own = needLocked(work);
  const { question, trigger } = own;
  assert(question !== null, "a model was asked a question");
  const paid = pay(work, outcome);
  if (outcome.kind === "summary") {
    const notes = notesOfSummary(question, outcome.text);
    return { ...paid, at: { after: "write notes", locked: own, notes } };
  }
  const next = { ...paid, reasons: [...work.reasons, ...outcome.reasons] };
  const mustCompact = trigger === "context_limit" || trigger === "overflow_recovery";
  // A caller that cancels does not want its history replaced, even if the window is full.
  if (!mustCompact || work.isAborted)
    return failed(next, own, { errorClass: "call_failed" }, nowMs);
  return { ...next, at: { after: "write notes", locked: own, notes: outline(question) } };
}

function pay(work: Compacting, { calls, cache }: Paid): Compacting {
  return { ...work, calls: [...work.calls, ...calls], cache };
}

function written(work: Compacting, result: ResultOf<"renew foundation">): Compacting {
  const own = needLocked(work);
  const { nowMs } = result;
  if (work.isAborted) return failed(work, own, { errorClass: "other" }, nowMs);
  const notes = notesAt(work, own);
  const replacement =
    notes === null ? clearedReplacement(own, result) : notedReplacement(own, notes, work, result);
  const isStandIn = replacement.summaryState === "failed";
  const cost = knownCost(sumCalls(work.calls));
  // The compaction goes on without a model, and an event says that no model was available.
  const news = isStandIn
    ? [compactionFailed(own.trigger, toFailure(work, own, { errorClass: "call_failed" }, nowMs))]
    : [];
  const session = { ...own.input.session, cache: work.cache };
  const compaction = writeCompaction(own.input, replacement, session, settingsOf(work.rules));
  const { tokensBefore, tokensAfter } = compaction.compaction.details;
  if (tokensAfter >= tokensBefore) {
    const reasons = [`it would leave ${tokensAfter} tokens of ${tokensBefore}`];
    const why = { errorClass: "summary_invalid", reasons, isBilled: isStandIn } as const;
    return failed({ ...work, news }, own, why, nowMs);
  }
  const isWritten = replacement.by !== "nobody";
  const author = { isWritten, costPicoUsd: isWritten ? cost : null };
  const completed = compactionCompleted(compaction.compaction, author);
  const made = { locked: own, replacement, written: compaction, completed };
  return { ...work, news, at: { after: "write compaction", made } };
}

/** Without a model the outline is written last, when nothing else can fail. Null if results are cleared. */
function notesAt({ at }: Compacting, { question }: LockedCompaction): MadeNotes | null {
  if (at.after === "write notes") return at.notes;
  return question === null ? null : outline(question);
}

function committed(work: Compacting, { lost, nowMs }: ResultOf<"commit">): Compacting {
  const { at } = work;
  assert(at.after === "write compaction", "a compaction is written before it is committed");
  const { written: compaction, replacement, locked: own } = at.made;
  if (lost !== null) {
    const isBilled = replacement.summaryState === "failed";
    const why = { errorClass: "lock_lost", reasons: [lost], isBilled } as const;
    return failed(work, own, why, nowMs);
  }
  const freed = freedSkills(replacement.resultsGone, own.skillsLoaded).map(({ name }) => name);
  const outcome = { kind: "compacted", ...compaction, freedSkills: freed } as const;
  return { ...work, at: { after: "end", outcome } };
}

interface Why extends Pick<CompactionFailure, "errorClass"> {
  /** The problems so far by default. */
  readonly reasons?: readonly string[];
  /** Whether an earlier event already has the cost. */
  readonly isBilled?: boolean;
}

/** The history stays. The next call books the cost. */
function failed(work: Compacting, own: LockedCompaction, why: Why, nowMs: number): Compacting {
  const { isAborted, cache, calls, news } = work;
  const { trigger, numbers, input } = own;
  const failure = toFailure(work, own, why, nowMs);
  const { compactionState, spent } = input.session;
  const session: Session = {
    ...input.session,
    cache,
    // A cancelled compaction is not a failure.
    compactionState: isAborted ? compactionState : afterFailure(compactionState, nowMs),
    spent: spend(spent, calls),
  };
  const outcome = {
    kind: "unchanged",
    session,
    why: failure.reasons.join("; "),
    isTight: isTight(trigger, numbers),
    spent: calls,
  } as const;
  return {
    ...work,
    news: [...news, compactionFailed(trigger, failure)],
    at: { after: "fail", outcome },
  };
}

function toFailure(
  { isAborted, reasons: met, calls }: Compacting,
  { startMs }: LockedCompaction,
  { errorClass, reasons = met, isBilled = false }: Why,
  nowMs: number,
): CompactionFailure {
  const costPicoUsd = isBilled ? null : knownCost(sumCalls(calls));
  const durationMs = nowMs - startMs;
  if (!isAborted) return { errorClass, reasons, costPicoUsd, durationMs };
  const all = [...new Set([...reasons, cancelledByCaller])];
  return { errorClass: "other", reasons: all, costPicoUsd, durationMs };
}

function isTight(trigger: DueCompaction["trigger"], numbers: CompactionNumbers): boolean {
  return trigger === "context_limit" && isFull(numbers);
}

function needLocked({ at }: Compacting): LockedCompaction {
  assert("locked" in at, `a compaction is locked after ${at.after}`);
  return at.locked;
}
