// POST /v1/messages and /v1/messages/count_tokens: read, render, answer, bill, write.
import type { SimRequest, SimResponse, SurfaceContext } from "../surface.ts";
import type { OpenBill } from "../billing/bill.ts";
import type { PromptMemory } from "./diagnostics.ts";
import { generateReply } from "./reply/generate-reply.ts";
import {
  readBody,
  readMessages,
  readRequest,
  type MessagesRequest,
} from "./request/read-request.ts";
import { renderPrompt, validateLength } from "./render/render-prompt.ts";
import { jsonResponse } from "./refusal.ts";
import { readBetas, type ApiCall } from "./request-headers.ts";
import { toCallRecord } from "../record-call.ts";
import { settingsOf } from "./settings.ts";
import { messageEvents, messageText, type Outcome } from "./reply/write-message.ts";
import type { ThreadStore } from "./threads.ts";

export function countMessageTokens(
  sent: SimRequest,
  { version }: ApiCall,
  { counter }: SurfaceContext,
): SimResponse {
  const request = readRequest(sent.bodyText, { version, betas: readBetas(sent), purpose: "count" });
  const totalTokens = countRequest(request, counter);
  const management = request.options.hasContextManagement
    ? { context_management: { original_input_tokens: totalTokens } }
    : {};
  return jsonResponse(JSON.stringify({ input_tokens: totalTokens, ...management }));
}

/** A count covers the conversation as sent; a requested summary does not change it. */
export function countRequest(request: MessagesRequest, counter: SurfaceContext["counter"]): number {
  const plain = { ...request, options: { ...request.options, compaction: null } };
  return renderPrompt(plain, counter).totalTokens;
}

export function createMessage(
  sent: SimRequest,
  { requestId, version }: ApiCall,
  context: SurfaceContext,
  { memory, threads }: Remembered,
): SimResponse {
  const betas = readBetas(sent);
  const joined = threads.join(readBody(sent.bodyText), { ...context, betas });
  const request = readMessages(joined.body, { version, betas, purpose: "create" });
  const { outcome, open } = answerMessages(
    request,
    { requestId, surface: "anthropic", idPrefix: "msg_" },
    context,
    memory,
  );
  joined.answered(outcome);
  return { ...messageResponse(outcome), bill: open };
}

/** What the provider knows of earlier calls, besides its cache. */
export interface Remembered {
  /** For cache diagnostics. */
  readonly memory: PromptMemory;
  readonly threads: ThreadStore;
}

/** Which surface asks: other providers carry the same requests. */
export interface AnsweredCall {
  readonly requestId: string;
  readonly surface: string;
  /** Begins the message's id. */
  readonly idPrefix: string;
  /** The share of the usual price; null if it is not known. Default: 1. */
  readonly priceShare?: number | null;
}

/** Answers and bills a request that was read. */
export function answerMessages(
  request: MessagesRequest,
  { requestId, surface, idPrefix, priceShare = 1 }: AnsweredCall,
  context: SurfaceContext,
  memory: PromptMemory | null,
): { readonly outcome: Outcome; readonly open: OpenBill } {
  const { nowMs, workspace, newId } = context;
  const prompt = renderPrompt(request, context.counter);
  validateLength(prompt, request);
  const id = newId(idPrefix);
  // The model answers first: if it fails, nothing is billed.
  const made = generateReply(request, prompt, context);
  const open = context.billing.open({
    id: requestId,
    workspace,
    model: request.facts,
    blocks: prompt.blocks,
    markers: prompt.markers,
    mode: "explicit",
    settings: settingsOf(request),
    startMs: nowMs,
  });
  const { bill } = open;
  const { facts, options } = request;
  const { stopReason } = made;
  const called = { surface, facts, bill, generated: made, stopReason, startMs: nowMs };
  const { speed } = options;
  const share = speed === "standard" ? priceShare : (facts.serviceTiers[speed] ?? null);
  context.record(toCallRecord({ ...called, priceShare: share }));
  const outcome: Outcome = {
    ...made,
    id,
    request,
    bill,
    diagnostics: memory?.diagnose({ workspace, messageId: id, request, prompt }),
    transformations: prompt.transformations,
  };
  return { outcome, open };
}

/** As one message, or as a stream if the request asks for one. */
export function messageResponse(outcome: Outcome): SimResponse {
  if (!outcome.request.options.stream) return jsonResponse(messageText(outcome));
  return {
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" },
    body: { [Symbol.iterator]: () => messageEvents(outcome) },
  };
}
