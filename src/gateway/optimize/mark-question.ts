// What is asked about the markers of a call: its prompt, what the provider has of it, and when the next call is likely to come.
import { foundationEnd } from "../../core/cache/expect-bill.ts";
import type { PaceKind } from "../../core/cache/pace.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { CallToSend } from "../observe/call-rewriter.ts";
import type { Conversation } from "../observe/conversation.ts";
import type { CallToMark } from "./choose-markers.ts";
import { openMarkedState, paceOf, type MarkedState } from "./marked-state.ts";
import { scopeOf, type HeadPlace, type SharedHeads } from "./shared-heads.ts";

export interface MarkQuestion {
  readonly state: MarkedState;
  readonly toMark: CallToMark;
  readonly place: HeadPlace;
}

export interface KnownStates {
  readonly states: WeakMap<Conversation, Map<string, MarkedState>>;
  readonly heads: SharedHeads;
}

export function toMarkQuestion(
  call: CallToSend & { readonly facts: ModelFacts },
  { states, heads }: KnownStates,
): MarkQuestion {
  const { document, found, facts, tenant, start } = call;
  const { request } = document;
  const { conversation } = found;
  const { blocks } = request;
  const known = states.get(conversation)?.get(facts.id) ?? openMarkedState();
  const original = document.original?.request ?? request;
  const place: HeadPlace = {
    scope: scopeOf(tenant, facts.id),
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
