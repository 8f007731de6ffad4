// Sends calls of some conversations with the planner's markers in place of the client's, and keeps the account of both.
import type {
  AnsweredCall,
  CallRewriter,
  CallToSend,
  Comparison,
  SentCall,
} from "../observe/call-rewriter.ts";
import type { Conversation } from "../observe/conversation.ts";
import { isCoded } from "../observe/decode-content.ts";
import { isRight } from "./check-spliced.ts";
import { toMarkable, type OptimizerOptions } from "./may-mark.ts";
import { withMembers } from "./add-members.ts";
import { chooseMarkers, planOfClient } from "./choose-markers.ts";
import { createFanOut, type FanOut } from "./fan-out.ts";
import { keepAwake, writeAhead } from "./keep-calls.ts";
import type { Keeping } from "./keep-conversations.ts";
import { toMarkQuestion } from "./mark-question.ts";
import { isBehind, learnMark, type MarkedState } from "./marked-state.ts";
import { armOf, createRepairer } from "./repair-calls.ts";
import { readMarks, saveMarks } from "./saved-marks.ts";
import { headKey, openSharedHeads, scopeOf } from "./shared-heads.ts";
import { spliceMarkers } from "./splice-markers.ts";

export interface OptimizeCounts {
  /** Calls with usage that were sent with our markers. */
  readonly marked: number;
  /** Calls of the same conversations that kept the client's markers, because those cost no more. */
  readonly kept: number;
  /** Bodies in which the place for a marker was not clear. */
  readonly unclear: number;
  /** Calls that waited for another one to write the same prefix. */
  readonly waited: number;
  /** Calls that were sent repaired. */
  readonly repaired: number;
  /** Bodies that were left as they are, because a repair might have changed their meaning. */
  readonly unrepaired: number;
}

export interface Optimizer extends CallRewriter {
  counts(): OptimizeCounts;
}

interface Shared extends OptimizerOptions {
  readonly keeping: Keeping | null;
  readonly fanOut: FanOut | null;
  readonly states: WeakMap<Conversation, Map<string, MarkedState>>;
  readonly heads: ReturnType<typeof openSharedHeads>;
  readonly counts: { -readonly [Name in keyof OptimizeCounts]: number };
}

export function createOptimizer(
  options: OptimizerOptions & { readonly keeping?: Keeping | null },
): Optimizer {
  const counts = { marked: 0, kept: 0, unclear: 0, waited: 0, repaired: 0, unrepaired: 0 };
  const repairer = createRepairer(options, counts);
  const keeping = options.keeping ?? null;
  const fanOut = options.settings.fanOutMs === 0 ? null : createFanOut(options.settings.fanOutMs);
  const shared: Shared = {
    ...options,
    keeping,
    fanOut,
    states: new WeakMap(),
    heads: openSharedHeads(),
    counts,
  };
  const { settings } = options;
  return {
    wants: ({ upstream, headers, usesLogin }, { client }) =>
      settings.share > 0 &&
      (settings.upstreams.length === 0 || settings.upstreams.includes(upstream)) &&
      (settings.clients.length === 0 || settings.clients.includes(client)) &&
      (settings.logins || usesLogin !== true) &&
      !isCoded(headers["content-encoding"]) &&
      !ofTheBytes.some((name) => name in headers),
    waitMsMax: settings.fanOutMs,
    repair: repairer,
    prepare: (call) => {
      // The conversation goes on: there is nothing to keep for it any more.
      keeping?.keeper.cancel(call.found.conversation.id);
      return inTurn(withMembers(prepare(call, shared), call, shared), call, shared);
    },
    learn: (answered) => learn(answered, shared),
    save: (conversation) => {
      // They are values: what is learned meanwhile makes others.
      const states = new Map(shared.states.get(conversation));
      return states.size === 0 ? null : (blocks) => saveMarks(states, blocks);
    },
    restore: (conversation, saved, blocks) => {
      const states = readMarks(saved, blocks);
      if (states.size > 0) shared.states.set(conversation, new Map(states));
    },
    joinHead: (saved, { tenant, conversationId: conversation, blocks, endedMs: nowMs }) => {
      const { heads } = shared;
      for (const [model, state] of readMarks(saved, blocks)) {
        const place = { scope: scopeOf(tenant, model), blocks, clientBlocks: blocks };
        if ((heads.lastUse(place) ?? 0) >= nowMs) continue;
        heads.learn({ ...place, conversation, nowMs }, state);
      }
    },
    counts: () => ({ ...counts, waited: shared.fanOut?.waitedCount ?? 0 }),
  };
}

/** Headers with a hash of the body, which rewriting would make wrong. */
const ofTheBytes: readonly string[] = [
  "content-digest",
  "content-md5",
  "digest",
  "repr-digest",
  "signature",
  "x-amz-content-sha256",
];

function prepare(call: Parameters<CallRewriter["prepare"]>[0], shared: Shared): SentCall {
  const { document, isUnsure } = call;
  const { request } = document;
  const arm = armOf(call, shared.settings);
  const asItIs: SentCall = { arm, request, pieces: null, plan: null };
  if (arm !== "strata" || isUnsure) return asItIs;
  const markable = toMarkable(call, shared);
  if (markable === null) return asItIs;
  const { marking, body } = markable;
  const { state, toMark } = toMarkQuestion({ ...call, facts: markable.facts }, shared);
  const plan = isBehind(state) ? null : chooseMarkers(toMark);
  if (plan === null) return asItIs;
  // A cache key that appears or disappears within a conversation loses the prefix, so the client's choice stays.
  const words = marking.words({ ...plan, cacheKey: null }, markable.facts);
  const spliced = spliceMarkers(body, {
    present: request.markers,
    marksRequest: request.requestMarker !== null,
    wanted: plan.markers.map(({ block, lifetime }) => ({
      path: request.blocks[block]?.path ?? "",
      lifetime,
    })),
    words,
    marking,
  });
  if (spliced === null || !isRight(spliced, document, plan.markers, state.markedCalls)) {
    shared.counts.unclear += 1;
    return asItIs;
  }
  const markers = plan.markers.map(({ block, lifetime }) => ({
    block,
    lifetime,
    path: request.blocks[block]?.path ?? "",
  }));
  return {
    arm,
    request: { ...request, markers, requestMarker: plan.requestMarker },
    pieces: spliced.pieces,
    plan,
  };
}

/** A conversation's first call that would write tools or system text may wait for another one that does. */
function inTurn(sent: SentCall, call: CallToSend, shared: Shared): SentCall {
  const { fanOut } = shared;
  const isFirst = call.found.branch === null && call.found.conversation.calls === 0;
  const markable =
    fanOut !== null && isFirst && sent.arm === "strata" ? toMarkable(call, shared) : null;
  if (fanOut === null || markable === null) return sent;
  const { toMark, place } = toMarkQuestion({ ...call, facts: markable.facts }, shared);
  const { expected } = sent.plan ?? planOfClient(toMark);
  const isCold = expected.readTokens === 0 && Object.keys(expected.writeTokens).length > 0;
  const prefix = headKey(place);
  return isCold && prefix !== null ? { ...sent, turn: fanOut.enter(prefix) } : sent;
}

function learn(answered: AnsweredCall, shared: Shared): Comparison {
  const { sent, facts, usage, found, reportsCache, costPicoUsd } = answered;
  if (sent.arm !== "strata" || facts === null || usage === null) {
    return { clientCostPicoUsd: null };
  }
  shared.counts[sent.plan === null ? "kept" : "marked"] += 1;
  const markable = toMarkable(answered, shared);
  if (markable === null) return { clientCostPicoUsd: costPicoUsd };
  const question = toMarkQuestion({ ...answered, facts: markable.facts }, shared);
  const { place } = question;
  const { state, clientCostPicoUsd } = learnMark(question.state, {
    call: question.toMark,
    plan: sent.plan,
    usage,
    reportsCache,
    costPicoUsd,
  });
  const own = shared.states.get(found.conversation) ?? new Map<string, MarkedState>();
  own.delete(facts.id);
  own.set(facts.id, state);
  for (const oldest of own.keys()) {
    if (own.size <= modelsMax) break;
    own.delete(oldest);
  }
  shared.states.set(found.conversation, own);
  shared.heads.learn(place, state);
  if (shared.keeping !== null) {
    const { keeping } = shared;
    const asked = { answered, body: markable, question, keeping, heads: shared.heads };
    if (question.toMark.isSingle) writeAhead(asked);
    else keepAwake({ ...asked, state, own });
  }
  return { clientCostPicoUsd };
}

/** Models whose state is kept for one conversation. */
const modelsMax = 4;
