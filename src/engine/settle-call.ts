// After a call: what the session knows now, and the entry that records it.
import type { Assembly } from "../core/assembly/assemble.ts";
import { appendMessages } from "../core/assembly/thread.ts";
import type { CachePlan } from "../core/cache/cache-plan.ts";
import { learnFromReply } from "../core/cache/learn-from-reply.ts";
import { learnPace } from "../core/cache/pace.ts";
import { itemsOf } from "../core/growing/growing-list.ts";
import type { CallEntry } from "../core/ledger/ledger.ts";
import type { Message } from "../core/message/message.ts";
import { findCost } from "../core/models/cost.ts";
import type { EncodedRequest } from "../core/wire/encoded-request.ts";
import type { ProviderFailure } from "../core/wire/failure.ts";
import type { Reply } from "../core/wire/reply.ts";
import type { Sent } from "../edge/providers/run-attempts.ts";
import type { Session } from "./session.ts";

export interface FinishedCall {
  readonly turnId: string;
  readonly number: number;
  readonly assembly: Assembly;
  readonly plan: CachePlan;
  readonly request: EncodedRequest;
  readonly sent: Pick<Sent, "outcome" | "attempts">;
  readonly startMs: number;
  readonly endMs: number;
}

export interface SettledCall {
  /** Unchanged where the call failed or its reply is not whole. */
  readonly session: Session;
  readonly entry: CallEntry;
}

export function settleCall(session: Session, call: FinishedCall): SettledCall {
  const { outcome } = call.sent;
  if (outcome.kind !== "reply") return { session, entry: failedEntry(session, call, outcome) };
  const { cache, model, pace } = session;
  const { assembly, plan, startMs } = call;
  const lesson = learnFromReply({
    state: cache,
    plan,
    blocks: assembly.blocks,
    rules: model.cache,
    usage: outcome.usage.usage,
    tellsCache: outcome.usage.tellsCache,
    startMs,
  });
  const gapMs = cache.lastStartMs === null ? null : startMs - cache.lastStartMs;
  const next: Session = {
    ...session,
    thread: appendMessages(assembly.thread, [outcome.message]),
    cache: lesson.state,
    pace: gapMs === null ? pace : learnPace(pace, gapMs),
  };
  const entry: CallEntry = {
    ...commonOf(session, call),
    reply: outcome.message,
    status: outcome.status,
    stopReason: outcome.stopReason,
    usage: outcome.usage.usage,
    costPicoUsd: costOfAll([outcome, ...discardedOf(call)], session, startMs),
    failure: outcome.failure ?? null,
    verdict: lesson.verdict,
    refuted: lesson.refuted,
    notes: [
      ...call.request.notes,
      ...outcome.usage.warnings.map((detail) => ({ kind: "usage" as const, detail })),
      ...outcome.transformations.map((detail) => ({ kind: "transformed" as const, detail })),
    ],
  };
  // What was cut off cannot be replayed: a tool use may lack its end.
  return { session: outcome.status === "complete" ? next : session, entry };
}

function failedEntry(session: Session, call: FinishedCall, failure: ProviderFailure): CallEntry {
  return {
    ...commonOf(session, call),
    reply: null,
    status: "failed",
    stopReason: null,
    usage: null,
    costPicoUsd: costOfAll(discardedOf(call), session, call.startMs),
    failure,
    verdict: null,
    refuted: [],
    notes: call.request.notes,
  };
}

/** Replies of earlier attempts that were of no use, and were billed. */
function discardedOf({ sent }: FinishedCall): readonly Reply[] {
  return sent.attempts.flatMap(({ discarded }) => (discarded === null ? [] : [discarded]));
}

/** Null where nothing was billed, or something that has no price. */
function costOfAll(replies: readonly Reply[], { model }: Session, startMs: number): bigint | null {
  if (replies.length === 0) return null;
  const costs = replies.map(({ usage }) => findCost(usage.usage, model, { at: startMs }).cost);
  return costs.reduce<bigint | null>(
    (sum, cost) => (sum === null || cost === null ? null : sum + cost.totalPicoUsd),
    0n,
  );
}

type Common =
  | "turnId"
  | "number"
  | "startMs"
  | "endMs"
  | "model"
  | "policy"
  | "promptKey"
  | "plan"
  | "sent"
  | "discarded";

function commonOf(session: Session, call: FinishedCall): Pick<CallEntry, Common> {
  const { turnId, number, startMs, endMs, plan, assembly } = call;
  return {
    turnId,
    number,
    startMs,
    endMs,
    model: session.model.id,
    policy: session.policy.name,
    promptKey: assembly.blocks.at(assembly.tailBlock)?.key ?? "",
    plan,
    sent: newMessages(session, assembly),
    discarded: discardedOf(call).map(({ usage }) => usage.usage),
  };
}

function newMessages(session: Session, { thread }: Assembly): readonly Message[] {
  const from = session.thread.messages.length;
  return [
    ...itemsOf({
      length: thread.messages.length - from,
      at: (index) => thread.messages.at(from + index),
    }),
  ];
}
