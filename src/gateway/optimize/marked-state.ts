// What a conversation's calls showed of the cache, and what the client's own markers would have left there.
import type { CachePlan } from "../../core/cache/cache-plan.ts";
import { openCacheState, type CacheState, type Measured } from "../../core/cache/cache-state.ts";
import { learnFromReply } from "../../core/cache/learn-from-reply.ts";
import { openPace, paceAt, type Pace, type PaceKind } from "../../core/cache/pace.ts";
import { bookCall, lastCallMs, noWarmBooks, type WarmBooks } from "../../core/cache/warm-books.ts";
import { promptTokens, type Usage } from "../../core/message/usage.ts";
import { findTotal } from "../../core/models/cost.ts";
import { billClient, planOfClient, usageOf, type CallToMark } from "./choose-markers.ts";

/** What is known of one conversation with one model. */
export interface MarkedState {
  /** With the markers that were sent. */
  readonly sent: CacheState;
  /** With the client's own markers, computed from the same bills. */
  readonly client: CacheState;
  readonly pace: Pace;
  /** Calls that were sent with our markers. */
  readonly markedCalls: number;
  /** What the calls so far have cost, and what they would have. */
  readonly paid: { readonly sent: bigint; readonly client: bigint };
  /** What keeping it warm cost and saved. */
  readonly warm: WarmBooks;
}

export function openMarkedState(): MarkedState {
  // The same object as `sent` as long as both ways are equal.
  const state = openCacheState();
  return {
    sent: state,
    client: state,
    pace: openPace("human"),
    markedCalls: 0,
    paid: { sent: 0n, client: 0n },
    warm: noWarmBooks,
  };
}

/** The pace of such an agent after these calls, at the start of the next one. */
export function paceOf({ pace, sent, warm }: MarkedState, kind: PaceKind, nowMs: number): Pace {
  return { ...paceAt(pace, lastCallMs(warm, sent.lastStartMs), nowMs), kind };
}

export interface AnsweredMark {
  readonly call: CallToMark;
  /** Null if it was sent with the client's markers. */
  readonly plan: CachePlan | null;
  readonly usage: Usage;
  readonly reportsCache: boolean;
  readonly costPicoUsd: bigint | null;
}

export interface MarkLesson {
  readonly state: MarkedState;
  /** What the call would have cost with the client's own markers. Null without prices. */
  readonly clientCostPicoUsd: bigint | null;
}

/** After a reply. `state` is the conversation's current state, because its other calls may have ended meanwhile. */
export function learnMark(state: MarkedState, answered: AnsweredMark): MarkLesson {
  const { call, plan, usage, reportsCache, costPicoUsd } = answered;
  const { request, original, facts, nowMs } = call;
  const { blocks } = request;
  const known = { blocks, rules: facts.cache, reportsCache, startMs: nowMs };
  const own = { ...call, state: state.sent };
  const sent = learnFromReply({
    ...known,
    state: state.sent,
    plan: plan ?? planOfClient(own),
    usage,
  }).state;
  const paceAfter = paceAt(state.pace, lastCallMs(state.warm, state.sent.lastStartMs), nowMs);
  const spent = costPicoUsd ?? 0n;
  const warm = bookCall(state.warm, { usage, costPicoUsd, startMs: nowMs }, facts);
  if (plan === null && state.client === state.sent && original === request) {
    return {
      state: {
        ...state,
        sent,
        client: sent,
        pace: paceAfter,
        paid: { sent: state.paid.sent + spent, client: state.paid.client + spent },
        warm,
      },
      clientCostPicoUsd: costPicoUsd,
    };
  }
  // Counts and the provider's reliability are known from the real reply.
  const { evidence } = sent;
  const total = promptTokens(usage) + droppedTokens(call);
  const measured = original === request ? sent.measured : measuredAs(total, original.blocks);
  const asked = { ...call, request: original, state: { ...state.client, measured, evidence } };
  const clientPlan = billClient(asked, total);
  const { outputTokens, reasoningTokens } = usage;
  const clientUsage: Usage = { ...usageOf(clientPlan), outputTokens, reasoningTokens };
  const client = learnFromReply({
    ...known,
    blocks: original.blocks,
    state: asked.state,
    plan: clientPlan,
    usage: clientUsage,
    reportsCache: true,
  }).state;
  const clientCostPicoUsd = findTotal(clientUsage, facts, { at: nowMs });
  return {
    state: {
      sent,
      client,
      pace: paceAfter,
      markedCalls: state.markedCalls + (plan === null ? 0 : 1),
      paid: {
        sent: state.paid.sent + spent,
        client: state.paid.client + (clientCostPicoUsd ?? spent),
      },
      warm,
    },
    clientCostPicoUsd,
  };
}

/** The whole prompt, at its last block. */
function measuredAs(tokens: number, blocks: CallToMark["original"]["blocks"]): Measured | null {
  const last = blocks.at(-1);
  return last === undefined ? null : { key: last.key, block: blocks.length - 1, tokens };
}

/** What a repair left out, by our count. */
function droppedTokens({ request, original }: CallToMark): number {
  const [own = 0, sent = 0] = [original, request].map(({ blocks }) => blocks.at(-1)?.endTokens);
  return Math.max(0, own - sent);
}

const triedCallsMin = 4;

/** Whether our markers cost this conversation more than the client's own would have. */
export function isBehind({ paid, markedCalls }: MarkedState): boolean {
  return markedCalls >= triedCallsMin && paid.sent * 100n > paid.client * 101n;
}
