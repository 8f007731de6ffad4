// Sends calls of some conversations with the planner's markers in place of the client's, and keeps the account of both.
import { foundationEnd } from "../../core/cache/expect-bill.ts";
import type { PaceKind } from "../../core/cache/pace.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
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
import { toMarkable, type OptimizerOptions, type OptimizeSettings } from "./may-mark.ts";
import { chooseMarkers, type CallToMark } from "./choose-markers.ts";
import { isBehind, learnMark, openMarkedState, paceOf, type MarkedState } from "./marked-state.ts";
import { createRepairer, drawArm, nameOf } from "./repair-calls.ts";
import { openSharedHeads, type HeadPlace } from "./shared-heads.ts";
import { spliceMarkers } from "./splice-markers.ts";

export interface OptimizeCounts {
  /** Calls with usage that were sent with our markers. */
  readonly marked: number;
  /** Calls of the same conversations that kept the client's markers, because those cost no more. */
  readonly kept: number;
  /** Bodies in which the place for a marker was not clear. */
  readonly unclear: number;
  /** Calls that were sent repaired. */
  readonly repaired: number;
  /** Bodies that were left as they are, because a repair might have changed their meaning. */
  readonly unrepaired: number;
}

export interface Optimizer extends CallRewriter {
  counts(): OptimizeCounts;
}

interface Shared extends OptimizerOptions {
  readonly states: WeakMap<Conversation, Map<string, MarkedState>>;
  readonly heads: ReturnType<typeof openSharedHeads>;
  readonly counts: { -readonly [Name in keyof OptimizeCounts]: number };
}

export function createOptimizer(options: OptimizerOptions): Optimizer {
  const counts = { marked: 0, kept: 0, unclear: 0, repaired: 0, unrepaired: 0 };
  const repairer = createRepairer(options, counts);
  const shared: Shared = { ...options, states: new WeakMap(), heads: openSharedHeads(), counts };
  const { settings } = options;
  return {
    wants: ({ upstream, headers, usesLogin }, { client }) =>
      settings.share > 0 &&
      (settings.upstreams.length === 0 || settings.upstreams.includes(upstream)) &&
      (settings.clients.length === 0 || settings.clients.includes(client)) &&
      (settings.logins || usesLogin !== true) &&
      !isCoded(headers["content-encoding"]) &&
      !ofTheBytes.some((name) => name in headers),
    repair: repairer,
    prepare: (call) => prepare(call, shared),
    learn: (answered) => learn(answered, shared),
    counts: () => ({ ...counts }),
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

function prepare(call: CallToSend, shared: Shared): SentCall {
  const { document } = call;
  const { request } = document;
  const arm = armOf(call, shared.settings);
  const asItIs: SentCall = { arm, request, pieces: null, plan: null };
  if (arm !== "strata") return asItIs;
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

/** The same conversation is always in the same arm; its sub-agents are in it, too. */
function armOf(
  { found: { conversation }, marks, document }: CallToSend,
  settings: OptimizeSettings,
): SentCall["arm"] {
  // A summary repeats its parent's prompt once, and reads what the parent wrote: it is in neither arm.
  if (conversation.role === "summary") return "client";
  const { id, parentId } = conversation;
  // What is repaired must be known before the conversation is.
  const name = settings.repairs.length === 0 ? (parentId ?? id) : nameOf(marks, document);
  return drawArm(name, settings);
}

interface MarkQuestion {
  readonly state: MarkedState;
  readonly toMark: CallToMark;
  readonly place: HeadPlace;
}

function toMarkQuestion(
  call: CallToSend & { readonly facts: ModelFacts },
  { states, heads }: Pick<Shared, "states" | "heads">,
): MarkQuestion {
  const { document, found, facts, tenant, start } = call;
  const { request } = document;
  const { conversation } = found;
  const { blocks } = request;
  const known = states.get(conversation)?.get(facts.id) ?? openMarkedState();
  const original = document.original?.request ?? request;
  const place: HeadPlace = {
    scope: `${tenant}\n${facts.id}`,
    blocks,
    clientBlocks: original.blocks,
    conversation: conversation.id,
    nowMs: start.startMs,
    keptMs: (facts.cache.lifetimes[0]?.seconds ?? 0) * 1000,
  };
  const { state, hasSiblings: isShared } = heads.join(place, known);
  const head = foundationEnd(blocks);
  // A client that marks its head expects other conversations to begin with it.
  const hasSiblings = isShared || request.markers.some(({ block }) => block <= head);
  const kind = kindOf(call);
  const isSingle = kind === "one-shot";
  // A single call among many that begin alike is planned like a worker's: only its head is worth writing.
  const paceKind = isSingle && hasSiblings ? "worker" : kind;
  const pace = paceOf(state, paceKind, start.startMs);
  const nowMs = start.startMs;
  const toMark = {
    request,
    original,
    facts,
    state: state.sent,
    pace,
    nowMs,
    hasSiblings,
    isSingle,
  };
  return { state, toMark, place };
}

/** A request without tools and without an answer in it is most often the only one of its conversation. */
function kindOf({ found, document }: CallToSend): PaceKind {
  const { conversation, branch } = found;
  if (conversation.agent !== null || conversation.parentId !== null) return "worker";
  const goesOn =
    conversation.hasTools ||
    branch !== null ||
    document.request.blocks.some(({ role }) => role === "assistant");
  return goesOn ? "human" : "one-shot";
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
  return { clientCostPicoUsd };
}

/** Of one conversation. */
const modelsMax = 4;
