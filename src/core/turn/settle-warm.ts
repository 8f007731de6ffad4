// After a call that only keeps or writes a cache: the session with what it learned, the ledger's record, the event.
import { learnFromReply } from "../cache/learn-from-reply.ts";
import type { CachePlan } from "../cache/cache-plan.ts";
import type { BlockList } from "../assembly/prompt-block.ts";
import { tailOf } from "../cache/expect-bill.ts";
import { findKeptPrefix, type KeptPrefix } from "../cache/kept-prefix.ts";
import { bookRefresh, lastCallMs } from "../cache/warm-books.ts";
import type { EventBody, PayloadOf } from "../events/event.ts";
import { toUsd } from "../events/payload-spelling.ts";
import type { LoneCall } from "../ledger/call-entry.ts";
import { noUsage, writtenTokens } from "../message/usage.ts";
import { withMoneyAsText } from "../models/pico-usd.ts";
import type { Session } from "../session/session.ts";
import { nothingSpent } from "../session/summary-bill.ts";
import type { EncodedRequest } from "../wire/encoded-request.ts";
import { billReplies } from "./call-bill.ts";
import { noteRefused } from "./plausible-usage.ts";
import { withReadUsage, type SentCall } from "./settle-call.ts";

export interface WarmCall {
  /** Unique within its session. */
  readonly id: string;
  readonly purpose: PayloadOf<"cache.warmed">["purpose"];
  /** The blocks that later calls repeat, and a plan for them. */
  readonly blocks: BlockList;
  readonly plan: CachePlan;
  readonly request: Pick<EncodedRequest, "notes">;
  readonly sent: SentCall;
  readonly startMs: number;
  readonly endMs: number;
  /** What the provider kept before a refresh; null for a prewarming. */
  readonly before: KeptPrefix | null;
}

export interface SettledWarmCall {
  /** Only what it knows about the cache is new. */
  readonly session: Session;
  readonly call: LoneCall;
  readonly event: EventBody;
  /** What the provider keeps now; null if nothing. */
  readonly kept: KeptPrefix | null;
}

export function settleWarm(session: Session, finished: WarmCall): SettledWarmCall {
  const { model, cache } = session;
  const sent = withReadUsage(finished, model);
  const { outcome } = sent;
  const { blocks, plan, startMs } = finished;
  const reply = outcome.kind === "reply" ? outcome : null;
  const lesson =
    reply === null || !reply.usage.isReported
      ? null
      : learnFromReply({
          state: cache,
          plan,
          blocks,
          rules: model.cache,
          usage: reply.usage.usage,
          reportsCache: reply.usage.reportsCache,
          startMs,
          isWarming: true,
        });
  const call = toLoneCall(session, { ...finished, sent }, lesson);
  const state = lesson?.state ?? cache;
  const kept = lesson === null ? null : findKeptPrefix(state, blocks, startMs);
  const next = { ...session, cache: state };
  return {
    session: lesson === null ? session : afterWarm(next, session, finished, call),
    call,
    event: { type: "cache.warmed", payload: toWarmed(finished, call, kept, startMs) },
    kept,
  };
}

/** The next call is compared with what the provider has now. */
function afterWarm(
  next: Session,
  { warm, cache }: Session,
  { before, purpose }: WarmCall,
  { costPicoUsd }: LoneCall,
): Session {
  const { lastCall } = next;
  const sent = lastCall?.sent ?? null;
  const first = { callMs: lastCallMs(warm, cache.lastStartMs), kept: before };
  // A prewarming was asked for: it is not a loss that keeping warm has to earn back.
  const isAsked = purpose === "prewarm";
  return {
    ...next,
    warm: bookRefresh(warm, isAsked ? 0n : costPicoUsd, first),
    lastCall:
      lastCall === null || sent === null
        ? lastCall
        : { ...lastCall, sent: { ...sent, state: next.cache } },
  };
}

type Lesson = ReturnType<typeof learnFromReply>;

function toLoneCall(session: Session, call: WarmCall, lesson: Lesson | null): LoneCall {
  const { model, policy } = session;
  const { outcome, attempts } = call.sent;
  const { startMs, blocks, plan } = call;
  const reply = outcome.kind === "reply" ? outcome : null;
  const discarded = attempts.flatMap((each) => (each.discarded === null ? [] : [each.discarded]));
  const bill = billReplies({ reply, discarded, spent: nothingSpent, startMs }, model);
  const replies = reply === null ? discarded : [reply, ...discarded];
  return withMoneyAsText({
    id: call.id,
    sessionId: session.id,
    kind: "warm",
    provider: model.provider,
    model: model.id,
    policy: policy.name,
    startMs,
    // The clock may have been set back.
    endMs: Math.max(startMs, call.endMs),
    promptKey: blocks.at(tailOf(blocks))?.key ?? "",
    plan,
    status: reply === null ? "failed" : reply.status,
    stopReason: reply?.stopReason ?? null,
    ...(reply?.servedBy === undefined ? {} : { servedBy: reply.servedBy }),
    usage: reply?.usage.isReported === true ? reply.usage.usage : null,
    discarded: discarded.map(({ usage }) => usage.usage),
    ...(attempts.length === 0 ? {} : { attemptCount: attempts.length }),
    costPicoUsd: bill.costPicoUsd,
    ...bill.priced,
    failure: outcome.kind === "reply" ? (outcome.failure ?? null) : outcome,
    verdict: lesson?.verdict ?? null,
    refuted: lesson?.refuted ?? [],
    notes: [...call.request.notes, ...bill.notes, ...replies.flatMap(noteRefused)],
  });
}

function toWarmed(
  { purpose }: WarmCall,
  call: LoneCall,
  kept: KeptPrefix | null,
  startMs: number,
): PayloadOf<"cache.warmed"> {
  const usage = call.usage ?? noUsage;
  const { failure } = call;
  return {
    model: call.model,
    provider: call.provider,
    purpose,
    outcome: failure !== null ? "failed" : writtenTokens(usage) > 0 ? "written" : "refreshed",
    input_tokens: usage.uncachedTokens,
    cached_input_tokens: usage.cacheReadTokens,
    cache_creation_input_tokens: writtenTokens(usage),
    cost_usd: toUsd(call.costPicoUsd),
    latency_ms: call.endMs - call.startMs,
    warm_seconds: kept === null ? 0 : Math.max(0, kept.expiresMs - startMs) / 1000,
    error_message_redacted: failure?.detail ?? null,
  };
}
