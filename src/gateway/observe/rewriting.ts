// What becomes of an observed call that may be sent with other markers: before it is sent, and after its reply.
import type { Catalogue } from "../../core/models/catalogue.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import type { ExchangeStart } from "../exchange.ts";
import type { ObservedCall } from "../observed-call.ts";
import type { AnsweredCall, CallRewriter, SentCall } from "./call-rewriter.ts";
import { addNames, type CallMarks } from "./client-marks.ts";
import type { Conversations } from "./conversations.ts";
import type { ReadDocument } from "./read-body.ts";

/** A call that the rewriter has seen before it was sent. */
export interface Prepared {
  readonly sent: SentCall;
  /** The one that the call was found to belong to, or that it begins. */
  readonly conversationId: string;
}

export interface CallToPrepare {
  readonly start: ExchangeStart;
  readonly tenant: string;
  readonly marks: CallMarks;
  readonly document: ReadDocument;
}

export function prepareCall(
  { start, tenant, marks, document }: CallToPrepare,
  rewriter: CallRewriter,
  { conversations, catalogue }: { conversations: Conversations; catalogue: Catalogue },
): Prepared {
  const { request } = document;
  const facts = factsOf(request.model, start.upstream, catalogue);
  const found = conversations.place({
    tenant,
    marks: addNames(marks, document.names),
    request,
    model: facts?.id ?? request.model,
    nowMs: start.startMs,
  });
  const sent = rewriter.prepare({ start, tenant, document, found, facts });
  return { sent, conversationId: found.conversation.id };
}

/** What was prepared was not sent, if the body is another one. */
export function asSent(
  prepared: Prepared,
  { request }: ReadDocument,
  body: readonly Uint8Array[] | null,
): Prepared {
  const { sent } = prepared;
  if (sent.pieces === body || sent.pieces === null) return prepared;
  return { ...prepared, sent: { ...sent, request, pieces: null, plan: null } };
}

/** Who placed the markers, and what the client's own would have cost. */
export function compareCosts(
  rewriter: CallRewriter,
  answered: AnsweredCall,
): Pick<ObservedCall, "arm" | "policy" | "clientCostPicoUsd"> {
  const { clientCostPicoUsd } = rewriter.learn(answered);
  const { arm, plan } = answered.sent;
  if (arm !== "strata") return { arm };
  return { arm, ...(plan === null ? {} : { policy: "adaptive" }), clientCostPicoUsd };
}

/** The facts of a model where the upstream is a route of its own, else by the name alone. */
export function factsOf(model: string, upstream: string, catalogue: Catalogue): ModelFacts | null {
  const routed = catalogue.routes.has(upstream)
    ? findModel(`${upstream}/${model}`, catalogue)
    : null;
  return (routed ?? findModel(model, catalogue))?.facts ?? null;
}
