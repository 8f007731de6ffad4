// An observed call that may be sent with other markers: the steps before it is sent, and after its reply.
import type { Catalogue } from "../../core/models/catalogue.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import type { ExchangeStart } from "../exchange.ts";
import type { ObservedCall } from "../observed-call.ts";
import type { AnsweredCall, CallRewriter, SentCall } from "./call-rewriter.ts";
import { addNames, type CallMarks } from "./client-marks.ts";
import type { Conversations } from "./conversations.ts";
import type { ReadDocument } from "./read-body.ts";

/** A call that the rewriter saw before it was sent. */
export interface Prepared {
  readonly sent: SentCall;
  /** The conversation that the call continues or begins. */
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

/** If the body differs, what was prepared has not been sent. */
export function asSent(
  prepared: Prepared,
  { request }: ReadDocument,
  body: readonly Uint8Array[] | null,
): Prepared {
  const { sent } = prepared;
  if (sent.pieces === body || sent.pieces === null) return prepared;
  return { ...prepared, sent: { ...sent, request, pieces: null, plan: null } };
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
