// Adds a result to a compaction: what was decided, written and paid for, and its events.
import { assert } from "../../assert.ts";
import { afterFailure } from "../../compaction/plan/compaction-state.ts";
import type { EventBody } from "../../events/event.ts";
import { settingsOf } from "../../session/compaction-rules.ts";
import { spend, knownCost, sumCalls } from "../../session/summary-bill.ts";
import type {
  Compacting,
  CompactionRequest,
  CompactionResult,
  DueCompaction,
  Paid,
} from "./compacting.ts";
import {
  compactionCompleted,
  compactionFailed,
  compactionSkipped,
  compactionStarted,
  isTight,
  skip,
  type CompactionFailure,
} from "./compaction-events.ts";
import { decideByHistory, decideBySize, isKnownWhole, planClearingOf } from "./decide.ts";
import { freedSkills } from "./compaction-input.ts";
import { notesOfProvider, notesOfSummary, outline, toNotesQuestion } from "./make-notes.ts";
import { toReplacement } from "./to-replacement.ts";
import { writeCompaction } from "./write-compaction.ts";

/** Decides by sizes alone. The cost does not grow with the history. */
export function beginCompaction(request: CompactionRequest): Compacting {
  const { session } = request;
  const { cache } = session;
  const base = { request, calls: [], reasons: [], cache, isAborted: false, news: [] };
  const bySize = request.bySize ?? decideBySize(request);
  if (!bySize.isDue) return { ...base, ...skip(session, bySize) };
  if (!isKnownWhole(request)) return { ...base, at: { after: "begin", bySize } };
  return { ...base, ...skip(session, { ...bySize, isDue: false, reason: "no boundary" }) };
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

function decide(work: Compacting, result: ResultOf<"read history">): Compacting {
  const { at, request } = work;
  assert(at.after === "begin", "the history is read once");
  const { input, skillsLoaded, nowMs: startMs } = result;
  const { session, prepared } = request;
  const { bySize } = at;
  const decision = decideByHistory(request, input);
  const boundary = decision.isDue ? decision.boundary : null;
  const mayClear = decision.isDue || decision.reason === "no boundary";
  const clearing = mayClear ? planClearingOf(input, request, bySize, boundary) : null;
  if (!decision.isDue && clearing === null) {
    const { headTurnId, compactionState } = session;
    const noPlace = { headTurnId, promptTokens: prepared.promptTokens };
    const state = mayClear ? { ...compactionState, noPlace } : compactionState;
    return { ...work, ...skip({ ...session, compactionState: state }, decision) };
  }
  const mayAskModel = bySize.mayAskModel && request.mayAskModel !== false;
  const found = { input, skillsLoaded, boundary, clearing, mayAskModel, startMs, question: null };
  return { ...work, at: { after: "read history", due: { ...bySize, ...found } } };
}

function locked(work: Compacting, { isLocked, nowMs: startMs }: ResultOf<"lock">): Compacting {
  const { request } = work;
  const due = needDue(work);
  const { trigger, boundary, clearing, input, skillsLoaded, numbers, targetTokens } = due;
  const { session, focus, compaction } = request;
  if (!isLocked) {
    const why = "another process compacts this session";
    const outcome = { kind: "unchanged", session, why, isTight: false, spent: [] } as const;
    const news = [compactionSkipped(trigger, "lock_held")];
    return { ...work, news, at: { after: "end", outcome } };
  }
  const question =
    clearing !== null || boundary === null
      ? null
      : toNotesQuestion({ input, boundary, trigger, skillsLoaded, focus, rules: compaction });
  const started = compactionStarted(trigger, {
    turns_to_fold: boundary?.turnsCompacted ?? 0,
    tokens_before: numbers.usedTokens,
    tokens_wanted: targetTokens,
  });
  return { ...work, news: [started], at: { after: "lock", due: { ...due, question, startMs } } };
}

function askedProvider(work: Compacting, { outcome }: ResultOf<"ask provider">): Compacting {
  const due = needDue(work);
  if (outcome.kind === "unavailable") {
    return { ...work, reasons: [...work.reasons, outcome.why], at: { after: "ask provider", due } };
  }
  const paid = pay(work, outcome);
  if (outcome.kind === "failed") return { ...paid, at: { after: "ask provider", due } };
  const { question } = due;
  assert(question !== null, "the provider was asked a question");
  return { ...paid, at: { after: "write notes", due, notes: notesOfProvider(question, outcome) } };
}

function summarised(work: Compacting, { outcome, nowMs }: ResultOf<"summarise">): Compacting {
  const due = needDue(work);
  const { question, trigger } = due;
  assert(question !== null, "a model was asked a question");
  const paid = pay(work, outcome);
  if (outcome.kind === "summary") {
    const notes = notesOfSummary(question, outcome.text);
    return { ...paid, at: { after: "write notes", due, notes } };
  }
  const mustCompact = trigger === "context_limit" || trigger === "overflow_recovery";
  // A caller that cancels does not want its history replaced, even if the window is full.
  if (!mustCompact || work.isAborted)
    return failed(paid, due, { errorClass: "call_failed" }, nowMs);
  return { ...paid, at: { after: "write notes", due, notes: outline(question) } };
}

function pay(work: Compacting, paid: Paid & { readonly reasons?: readonly string[] }): Compacting {
  const { calls, cache, reasons = [] } = paid;
  return {
    ...work,
    calls: [...work.calls, ...calls],
    reasons: [...work.reasons, ...reasons],
    cache,
  };
}

function written(work: Compacting, result: ResultOf<"renew foundation">): Compacting {
  const due = needDue(work);
  const { nowMs } = result;
  if (work.isAborted) return failed(work, due, { errorClass: "other" }, nowMs);
  const { at, cache, request } = work;
  // Without a model the outline is written last, when nothing else can fail.
  const ownNotes = due.question === null ? null : outline(due.question);
  const notes = at.after === "write notes" ? at.notes : ownNotes;
  const replacement = toReplacement(due, notes, work, result);
  const { summaryState } = replacement;
  // The compaction goes on without a model, and an event says that no model was available.
  const news =
    summaryState === "failed" ? [failure(work, due, { errorClass: "call_failed" }, nowMs)] : [];
  const session = { ...due.input.session, cache };
  const compaction = writeCompaction(
    due.input,
    replacement,
    session,
    settingsOf(request.compaction),
  );
  const { details } = compaction.compaction;
  if (details.tokensAfter >= details.tokensBefore) {
    const reasons = [`it would leave ${details.tokensAfter} tokens of ${details.tokensBefore}`];
    const why = { errorClass: "summary_invalid", reasons, isBilled: news.length > 0 } as const;
    return failed({ ...work, news }, due, why, nowMs);
  }
  const cost = knownCost(sumCalls(work.calls));
  const completed = compactionCompleted(details, replacement.by !== "nobody", cost);
  const made = { replacement, written: compaction, completed };
  return { ...work, news, at: { after: "write compaction", due, made } };
}

function committed(work: Compacting, { lost, nowMs }: ResultOf<"commit">): Compacting {
  const { at } = work;
  assert(at.after === "write compaction", "a compaction is written before it is committed");
  const { due, made } = at;
  const { summaryState, resultsGone } = made.replacement;
  if (lost !== null) {
    const isBilled = summaryState === "failed";
    return failed(work, due, { errorClass: "lock_lost", reasons: [lost], isBilled }, nowMs);
  }
  const freed = freedSkills(resultsGone, due.skillsLoaded).map(({ name }) => name);
  const outcome = { kind: "compacted", ...made.written, freedSkills: freed } as const;
  return { ...work, at: { after: "end", outcome } };
}

interface Why extends Pick<CompactionFailure, "errorClass"> {
  /** The problems so far by default. */
  readonly reasons?: readonly string[];
  /** Whether an earlier event already has the cost. */
  readonly isBilled?: boolean;
}

/** The history stays. The next call books the cost. */
function failed(work: Compacting, due: DueCompaction, why: Why, nowMs: number): Compacting {
  const { isAborted, cache, calls, news } = work;
  const { compactionState, spent } = due.input.session;
  const session = {
    ...due.input.session,
    cache,
    // A cancelled compaction is not a failure.
    compactionState: isAborted ? compactionState : afterFailure(compactionState, nowMs),
    spent: spend(spent, calls),
  };
  const outcome = {
    kind: "unchanged",
    session,
    why: reasonsOf(work, why).join("; "),
    isTight: isTight(due),
    spent: calls,
  } as const;
  return {
    ...work,
    news: [...news, failure(work, due, why, nowMs)],
    at: { after: "fail", outcome },
  };
}

function failure(
  work: Compacting,
  { trigger, startMs }: DueCompaction,
  why: Why,
  nowMs: number,
): EventBody {
  return compactionFailed(trigger, {
    errorClass: work.isAborted ? "other" : why.errorClass,
    reasons: reasonsOf(work, why),
    costPicoUsd: why.isBilled === true ? null : knownCost(sumCalls(work.calls)),
    durationMs: nowMs - startMs,
  });
}

function reasonsOf(
  { isAborted, reasons: met }: Compacting,
  { reasons = met }: Why,
): readonly string[] {
  return isAborted ? [...new Set([...reasons, cancelledByCaller])] : reasons;
}

export const cancelledByCaller = "cancelled by the caller";

function needDue({ at }: Compacting): DueCompaction {
  assert("due" in at, `a compaction is due after ${at.after}`);
  return at.due;
}
