// Which conversations are kept warm while their client is away, and which common heads are written ahead of single questions.
import { randomUUID } from "node:crypto";
import type { CachePlan } from "../../core/cache/cache-plan.ts";
import { decideRefresh } from "../../core/cache/keep-warm.ts";
import { findKeptPrefix } from "../../core/cache/kept-prefix.ts";
import { learnFromReply } from "../../core/cache/learn-from-reply.ts";
import type { Pace } from "../../core/cache/pace.ts";
import { planRefresh } from "../../core/cache/plan-warm.ts";
import { bookRefresh, lastCallMs } from "../../core/cache/warm-books.ts";
import { noUsage } from "../../core/message/usage.ts";
import { findTotal } from "../../core/models/cost.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { ForeignBlock } from "../../core/wire/foreign/foreign-request.ts";
import type { Resend } from "../exchange.ts";
import type { AnsweredCall } from "../observe/call-rewriter.ts";
import { toWarmBody } from "../warm/warm-body.ts";
import type { WarmJob, WarmKeeper, WarmSettings } from "../warm/warm-keeper.ts";
import type { MarkedState } from "./marked-state.ts";

export interface Keeping {
  readonly keeper: WarmKeeper;
  readonly settings: WarmSettings;
}

export interface ToKeep {
  readonly answered: AnsweredCall;
  readonly facts: ModelFacts;
  /** With the markers that were sent. */
  readonly plan: CachePlan;
  /** The conversation's state after the call. */
  readonly state: MarkedState;
  readonly paceOf: (state: MarkedState) => Pace;
  readonly current: () => MarkedState | undefined;
  readonly take: (state: MarkedState) => void;
}

/** Sets the time at which the conversation's prefix is asked for again, if that is expected to pay. */
export function keepWarm(waiting: ToKeep, keeping: Keeping): void {
  const { answered, facts, plan, state, paceOf } = waiting;
  const place = placeOf(answered, facts, keeping);
  if (place === null || plan.markers.length === 0) return;
  const { sent, document, found } = answered;
  const { blocks } = document.request;
  const { lastStartMs } = state.sent;
  const callMs = lastCallMs(state.warm, lastStartMs);
  const kept = findKeptPrefix(state.sent, blocks, lastStartMs ?? 0);
  if (kept === null || callMs === null) return;
  const decision = decideRefresh({
    model: facts,
    pace: paceOf(state),
    kept,
    lifetimes: plan.markers.map(({ lifetime }) => lifetime),
    callMs,
    books: state.warm,
    markers: "least-cost",
  });
  if (decision === null || !decision.pays) return;
  const pieces = sent.pieces ?? place.bytes();
  const { conversation } = found;
  keeping.keeper.schedule({
    ...place,
    name: conversation.id,
    purpose: "keep_warm",
    atMs: decision.atMs,
    mostPicoUsd: decision.costPicoUsdMax,
    facts,
    plan,
    blocks: blocks.length,
    byteLength: document.byteLength,
    toBody: () =>
      toWarmBody(pieces, { ...place, messages: { ...place.messages, isLeftOut: false } }),
    toConversation: (of) => ({ ...of, callNumber: (conversation.calls += 1) }),
    learn: ({ usage, reportsCache, costPicoUsd, startMs }) => {
      // A call that ended meanwhile has set its own time.
      if (waiting.current() !== state) return;
      const asked = planRefresh(plan, { blocks, rules: facts, state: state.sent, now: startMs });
      const known = { plan: asked, blocks, rules: facts.cache, usage, reportsCache, startMs };
      const after = learnFromReply({ ...known, state: state.sent, isWarming: true }).state;
      const next: MarkedState = {
        ...state,
        sent: after,
        paid: { ...state.paid, sent: state.paid.sent + (costPicoUsd ?? 0n) },
        warm: bookRefresh(state.warm, costPicoUsd, { callMs, kept }),
      };
      waiting.take(next);
      keepWarm({ ...waiting, state: next }, keeping);
    },
  });
}

export interface HeadToWrite {
  readonly answered: AnsweredCall;
  readonly facts: ModelFacts;
  /** Markers on the head alone. */
  readonly plan: CachePlan;
  /** The client's bytes with these markers; null if their places are not clear. */
  readonly toPieces: () => readonly Uint8Array[] | null;
  readonly head: readonly ForeignBlock[];
  readonly learn: WarmJob["learn"];
}

/** Writes at once what the next single questions read. */
export function writeHead(
  { answered, facts, plan, toPieces, head, learn }: HeadToWrite,
  keeping: Keeping,
): void {
  const place = placeOf(answered, facts, keeping);
  const tokens = head.at(-1)?.endTokens ?? 0;
  const lifetime = plan.markers.at(-1)?.lifetime;
  if (place === null || lifetime === undefined) return;
  const { startMs } = answered.start;
  // Our count may be off by a third.
  const most = { ...noUsage, cacheWriteTokens: { [lifetime]: Math.ceil(tokens * 1.35) + 100 } };
  const mostPicoUsd = findTotal(most, facts, { at: startMs });
  if (mostPicoUsd === null) return;
  keeping.keeper.schedule({
    ...place,
    name: answered.found.conversation.id,
    purpose: "prewarm",
    atMs: startMs,
    mostPicoUsd,
    facts,
    plan,
    blocks: head.length,
    byteLength: answered.document.byteLength,
    toBody: () => {
      const pieces = toPieces();
      const messages = { ...place.messages, isLeftOut: true };
      return pieces === null ? null : toWarmBody(pieces, { ...place, messages });
    },
    toConversation: (of) => ({ ...of, id: randomUUID(), kind: "single", callNumber: 1 }),
    learn,
  });
}

interface Place extends Pick<WarmJob, "protocol"> {
  readonly resend: Resend;
  readonly warming: Parameters<typeof toWarmBody>[1]["warming"];
  readonly messages: { readonly member: string };
  readonly bytes: () => readonly Uint8Array[];
}

/** Null where a provider cannot cache without an answer, or the client's key may not be used for it. */
function placeOf(
  { start, document }: AnsweredCall,
  facts: ModelFacts,
  { settings }: Keeping,
): Place | null {
  const { protocol, grown } = document;
  const { warming, growing } = protocol.foreign;
  const { resend, usesLogin } = start;
  if (resend === undefined || (usesLogin === true && !settings.logins)) return null;
  if (facts.cache.prewarm === null || warming === undefined) return null;
  if (grown === null || growing === undefined) return null;
  const { bytes } = grown.scanned;
  const messages = { member: growing.member };
  return { protocol, resend, warming, messages, bytes: () => bytes.slices(0, bytes.length) };
}
