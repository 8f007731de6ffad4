// After a call: the session with what it learned, and the ledger entry of the call.
import { sizesAfterFailure, sizesAfterReply } from "./learn-sizes.ts";
import { withMoneyAsText } from "../models/pico-usd.ts";
import type { Assembly } from "../assembly/assemble.ts";
import { appendMessages, messagesFrom, messageTokens } from "../assembly/thread.ts";
import type { CachePlan } from "../cache/cache-plan.ts";
import type { CacheState } from "../cache/cache-state.ts";
import { learnFromReply, type ReplyLesson } from "../cache/learn-from-reply.ts";
import { tierSizesOf } from "../cache/tier-usage.ts";
import { bookCall } from "../cache/warm-books.ts";
import { afterCall, afterTurn, type CompactionState } from "../compaction/plan/compaction-state.ts";
import type { OwnExplanation } from "../diagnosis/own/explain-own-call.ts";
import type { LastCall } from "../diagnosis/own/last-call.ts";
import { compareDiagnosis, type ProviderDiagnosis } from "../diagnosis/provider-diagnosis.ts";
import type { CallEntry } from "../ledger/call-entry.ts";
import type { WithCall } from "../ledger/ledger.ts";
import type { EncodedRequest } from "../wire/encoded-request.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import type { ProviderFailure } from "../wire/failure.ts";
import { nameWrites } from "../wire/name-writes.ts";
import type { Reply } from "../wire/reply.ts";
import {
  diagnoseCall,
  toMiss,
  toSentPrompt,
  type Miss,
  type SentBesides,
} from "./diagnose-call.ts";
import { paceOf } from "./prepare-call.ts";
import { noteRefused, withPlausibleUsage } from "./plausible-usage.ts";
import { billReplies, type CallBill } from "./call-bill.ts";
import { toStateText } from "../session/session-state.ts";
import type { Session } from "../session/session.ts";
import { nothingSpent, type Spent } from "../session/summary-bill.ts";
import { withLearnedLimit } from "../tokens/learned-sizes.ts";

/** The outcome of a request, after all its attempts. */
export interface SentCall {
  readonly outcome: Reply | ProviderFailure;
  /** If a failure cut a reply off, the reply is discarded but still billed. */
  readonly attempts: readonly { readonly discarded: Reply | null }[];
}

export interface FinishedCall {
  readonly turnId: string;
  readonly number: number;
  readonly assembly: Assembly;
  readonly plan: CachePlan;
  readonly request: Pick<EncodedRequest, "notes">;
  /** What the request held besides its prompt, as far as it is known. */
  readonly besides?: SentBesides;
  readonly sent: SentCall;
  readonly startMs: number;
  readonly endMs: number;
  /** Earlier costs to book with this call. Calls of a turn book them; calls for a summary book only themselves. */
  readonly spent?: Spent;
  /** Text sent with this call only. */
  readonly volatile?: string | null;
}

export interface SettledCall {
  /** Has the reply if it is whole. Always keeps what the call taught about the cache. */
  readonly session: Session;
  readonly entry: CallEntry;
  /** What else the ledger stores with the call. */
  readonly more: WithCall;
  /** What the call lost of the cache; null for nothing. */
  readonly miss: Miss | null;
}

export function settleCall(session: Session, finished: FinishedCall): SettledCall {
  const { cache, model, warm } = session;
  const call = { ...finished, sent: withReadUsage(finished, model) };
  const { outcome } = call.sent;
  const learned = learnFrom(session, call, discardedOf(call), cache);
  const counted = {
    compactionState: countCall(session, call),
    spent: call.spent === undefined ? session.spent : nothingSpent,
  };
  if (outcome.kind !== "reply") {
    return settleFailure(session, call, outcome, { ...session, ...counted, cache: learned });
  }
  const { assembly, startMs } = call;
  const { lesson, miss, lastCall, diagnosis } = judgeCall(session, call, outcome, learned);
  const grown = appendMessages(assembly.thread, [outcome.message]);
  // After an empty reply the thread must not keep the volatile text: it would stand between two user messages.
  const isEmpty = grown.blocks.length === assembly.thread.blocks.length;
  const isWhole = outcome.status === "complete";
  const { costPicoUsd, priced, notes } = billOf(session, call);
  const entry: CallEntry = withMoneyAsText({
    ...commonOf(session, call),
    reply: outcome.message,
    status: outcome.status,
    stopReason: outcome.stopReason,
    ...(outcome.servedBy === undefined ? {} : { servedBy: outcome.servedBy }),
    ...(outcome.usage.prefillMs === undefined ? {} : { prefillMs: outcome.usage.prefillMs }),
    ...(diagnosis && { diagnosis }),
    usage: outcome.usage.isReported ? outcome.usage.usage : null,
    costPicoUsd,
    ...priced,
    failure: outcome.failure ?? null,
    verdict: lesson.verdict,
    refuted: lesson.refuted,
    notes: [
      ...call.request.notes,
      ...notes,
      ...(isEmpty ? [emptyReply] : []),
      ...[outcome, ...discardedOf(call)].flatMap(noteRefused),
      ...notesOn(outcome),
    ],
  });
  const next: Session = {
    ...withoutLost(session),
    // A reply that was cut off cannot be sent again: a tool use may lack its end.
    thread: isWhole ? (isEmpty ? assembly.plainThread : grown) : session.thread,
    ...counted,
    cache: lesson.state,
    sizes: sizesAfterReply(session, call, outcome),
    lastVolatile: lastVolatileAfter(session, call),
    lastCall,
    warm: bookCall(warm, { usage: outcome.usage.usage, costPicoUsd, startMs }, model),
    pace: paceOf(session, startMs),
  };
  const more = {
    tokens: messageTokens(grown, session.thread.messages.length),
    isReplayed: isWhole && !isEmpty,
    stateJson: toStateText(next, call.turnId),
  };
  return { session: next, entry, more, miss };
}

/** A refused call may have taught the window's limit, or that a stored prefix is gone. */
function settleFailure(
  session: Session,
  call: FinishedCall,
  failure: ProviderFailure,
  counted: Session,
): SettledCall {
  const sizes = sizesAfterFailure(session, call, failure);
  const model = withLearnedLimit(session.model, sizes);
  const lost = isPrefixGone(session, call, failure) ? call.plan.stored : undefined;
  const next = { ...counted, sizes, model, ...(lost && { lostPrefix: lost }) };
  const more = { stateJson: toStateText(next, call.turnId) };
  return { session: next, entry: failedEntry(session, call, failure), more, miss: null };
}

/** The miss of this call has reported it. */
function withoutLost({ lostPrefix: _told, ...session }: Session): Session {
  return session;
}

function isPrefixGone(
  { protocol }: Session,
  { plan }: FinishedCall,
  failure: ProviderFailure,
): boolean {
  return plan.stored !== undefined && protocol.storing?.mayBeGone(failure) === true;
}

function notesOn({ usage, transformations }: Reply): CallEntry["notes"] {
  return [
    ...usage.warnings.map((detail) => ({ kind: "usage" as const, detail })),
    ...transformations.map((detail) => ({ kind: "transformed" as const, detail })),
  ];
}

interface JudgedCall {
  readonly lesson: ReplyLesson;
  readonly miss: Miss | null;
  readonly lastCall: LastCall | null;
  /** Null if the provider compared nothing. */
  readonly diagnosis: ProviderDiagnosis | null;
}

/** Expected against reported: why a prefix was not read, and what that says about the provider. */
function judgeCall(
  session: Session,
  call: FinishedCall,
  outcome: Reply,
  learned: CacheState,
): JudgedCall {
  const { usage, servedBy, id } = outcome;
  const { assembly, startMs, plan, spent, endMs } = call;
  const { model, options } = session;
  // A summary is another conversation.
  const isOfTurn = spent !== undefined;
  const prompt = toSentPrompt(session, call, servedBy ?? null);
  const found = isOfTurn ? diagnoseCall(session, prompt, usage, call) : null;
  const lesson = learnFromReply({
    state: learned,
    plan,
    blocks: assembly.blocks,
    rules: model.cache,
    usage: usage.usage,
    reportsCache: usage.reportsCache,
    startMs,
    isOwnFault: found !== null && !isUnexplained(found),
  });
  // Our counts may explain a shortfall: then the provider lost nothing.
  const isCounting = found !== null && isUnexplained(found) && lesson.verdict.kind !== "read less";
  const isAsked = call.besides?.comparesWith !== undefined && id !== "";
  const hasOwnEnd =
    assembly.volatile.blocks.length > 0 && assembly.volatilePlace === "message-tail";
  const reply = isAsked ? { id, route: model.route, hasOwnEnd } : null;
  const compactions = session.compactionState.folds;
  const sent = { prompt, state: lesson.state, options, compactions };
  const miss = found === null || isCounting ? null : toMiss(found);
  return {
    lesson,
    miss,
    lastCall: isOfTurn ? { sent, traits: prompt.traits, reply, endMs } : session.lastCall,
    diagnosis: hearProvider(session, call, outcome, miss),
  };
}

/** What the provider says, where it compared the call with the one before. */
function hearProvider(
  { lastCall }: Session,
  { besides }: FinishedCall,
  { diagnosis }: Reply,
  miss: Miss | null,
): ProviderDiagnosis | null {
  if ((besides?.comparesWith ?? null) === null) return null;
  const hasOwnEnd = lastCall?.reply?.hasOwnEnd ?? false;
  return compareDiagnosis({ says: diagnosis ?? null, cause: miss?.cause ?? null, hasOwnEnd });
}

/** Every reply comes through here: counts that cannot be true are refused, and writes get the plan's lifetimes. */
export function withReadUsage(
  { sent, plan }: Pick<FinishedCall, "sent" | "plan">,
  model: ModelFacts,
): SentCall {
  const read = (reply: Reply): Reply => {
    const plausible = withPlausibleUsage(reply, model);
    return { ...plausible, usage: nameWrites(plausible.usage, plan, model) };
  };
  return {
    outcome: sent.outcome.kind === "reply" ? read(sent.outcome) : sent.outcome,
    attempts: sent.attempts.map(({ discarded }) => ({
      discarded: discarded === null ? null : read(discarded),
    })),
  };
}

/** Nothing that we sent explains it. */
function isUnexplained({ cause }: OwnExplanation): boolean {
  return cause === "provider lost it" || cause === "changed after the head";
}

/** If this text stands before the messages, it is needed to send the same prefix again. */
function lastVolatileAfter(
  { policy, lastVolatile }: Session,
  { volatile }: FinishedCall,
): string | null {
  if (volatile === undefined) return lastVolatile;
  return policy.layout.volatile === "system-tail" ? volatile : null;
}

/** Counts a turn at its first call. */
function countCall({ compactionState }: Session, { number }: FinishedCall): CompactionState {
  return afterCall(number === 1 ? afterTurn(compactionState) : compactionState);
}

const emptyReply: CallEntry["notes"][number] = {
  kind: "content-left-out",
  detail: "the reply holds nothing that can be sent again",
};

/** Failed attempts also wrote to the cache. */
function learnFrom(
  { model }: Session,
  { plan, assembly, startMs }: FinishedCall,
  replies: readonly Reply[],
  before: CacheState,
): CacheState {
  return replies.reduce((state, { usage }) => {
    if (!usage.isReported) return state;
    const { reportsCache } = usage;
    const call = {
      state,
      plan,
      blocks: assembly.blocks,
      rules: model.cache,
      startMs,
      reportsCache,
    };
    return { ...learnFromReply({ ...call, usage: usage.usage }).state, evidence: state.evidence };
  }, before);
}

function failedEntry(session: Session, call: FinishedCall, failure: ProviderFailure): CallEntry {
  const { costPicoUsd, notes } = billOf(session, call);
  return withMoneyAsText({
    ...commonOf(session, call),
    reply: null,
    status: "failed",
    stopReason: null,
    usage: null,
    costPicoUsd,
    failure,
    verdict: null,
    refuted: [],
    notes: [...call.request.notes, ...notes, ...discardedOf(call).flatMap(noteRefused)],
  });
}

/** Replies of failed attempts; they were billed. */
function discardedOf({ sent }: FinishedCall): readonly Reply[] {
  return sent.attempts.flatMap(({ discarded }) => (discarded === null ? [] : [discarded]));
}

function billOf({ model }: Session, call: FinishedCall): CallBill {
  const { outcome } = call.sent;
  const { startMs, spent = nothingSpent } = call;
  const reply = outcome.kind === "reply" ? outcome : null;
  return billReplies({ reply, discarded: discardedOf(call), spent, startMs }, model);
}

function commonOf(session: Session, call: FinishedCall) {
  const { turnId, number, startMs, plan, assembly, spent = nothingSpent } = call;
  const { attempts } = call.sent;
  return {
    turnId,
    number,
    startMs,
    // The clock may have been set back.
    endMs: Math.max(startMs, call.endMs),
    model: session.model.id,
    policy: session.policy.name,
    promptKey: assembly.blocks.at(assembly.tailBlock)?.key ?? "",
    plan,
    tiers: tierSizesOf(assembly),
    sent: messagesFrom(assembly.thread, session.thread.messages.length),
    discarded: [...discardedOf(call).map(({ usage }) => usage.usage), ...spent.usages],
    ...(attempts.length === 0 ? {} : { attemptCount: attempts.length }),
  };
}
