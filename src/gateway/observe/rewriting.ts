// An observed call that may be sent with other markers: the steps before it is sent, and after its reply.
import type { Catalogue } from "../../core/models/catalogue.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import type { RepairName } from "../../core/wire/foreign/foreign-reader.ts";
import type { ObservedCall } from "../observed-call.ts";
import type {
  AnsweredCall,
  CallRewriter,
  CallToRepair,
  Repaired,
  SentCall,
} from "./call-rewriter.ts";
import type { Conversations } from "./conversations.ts";
import type { ReadDocument } from "./read-body.ts";

/** A call that the rewriter saw before it was sent. */
export interface Prepared {
  readonly sent: SentCall;
  /** As it is sent, but for markers. */
  readonly document: ReadDocument;
  /** The bytes in place of the client's; null for its own. */
  readonly pieces: readonly Uint8Array[] | null;
  readonly repairs: readonly RepairName[];
  /** The conversation that the call continues or begins. */
  readonly conversationId: string;
}

export interface CallToPrepare extends Omit<CallToRepair, "read"> {
  readonly tenant: string;
  /** What is sent, if it is not as the client wrote it. */
  readonly repaired: Repaired | null;
  /** Whether other gateways may know more of the conversation. */
  readonly isUnsure: boolean;
}

export function prepareCall(
  { start, tenant, marks, document: own, repaired, isUnsure }: CallToPrepare,
  rewriter: CallRewriter,
  { conversations, catalogue }: { conversations: Conversations; catalogue: Catalogue },
): Prepared {
  const document = repaired?.document ?? own;
  const { request } = document;
  const facts = factsOf(request.model, start.upstream, catalogue);
  const found = conversations.place({
    tenant,
    marks,
    request,
    model: facts?.id ?? request.model,
    nowMs: start.startMs,
  });
  const sent = rewriter.prepare({ start, tenant, marks, document, found, facts, isUnsure });
  return {
    sent,
    document,
    pieces: sent.pieces ?? repaired?.pieces ?? null,
    repairs: repaired?.repairs ?? [],
    conversationId: found.conversation.id,
  };
}

/** If the body differs, what was prepared has not been sent. */
export function asSent(prepared: Prepared, body: readonly Uint8Array[] | null): Prepared {
  const { sent, pieces, document: made } = prepared;
  // One that waited is sent as it came.
  if (pieces === body || pieces === null) return prepared;
  const document = made.original ?? made;
  const { request } = document;
  const { arm, turn } = sent;
  const own: SentCall = { arm, request, pieces: null, plan: null, ...(turn && { turn }) };
  return { ...prepared, sent: own, document, pieces: null, repairs: [] };
}

/** Whose markers were sent, and what the client's own would have cost. */
export function compareCosts(
  rewriter: CallRewriter,
  answered: AnsweredCall,
): Pick<ObservedCall, "arm" | "policy" | "clientCostPicoUsd"> {
  const { clientCostPicoUsd } = rewriter.learn(answered);
  const { arm, plan } = answered.sent;
  if (arm !== "strata") return { arm };
  return { arm, ...(plan === null ? {} : { policy: "adaptive" }), clientCostPicoUsd };
}

/** The facts of the model on the upstream's route, or by the name alone if the upstream has no route of its own. */
export function factsOf(model: string, upstream: string, catalogue: Catalogue): ModelFacts | null {
  const routed = catalogue.routes.has(upstream)
    ? findModel(`${upstream}/${model}`, catalogue)
    : null;
  return (routed ?? findModel(model, catalogue))?.facts ?? null;
}
