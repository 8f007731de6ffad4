// POST /v1/messages and /v1/messages/count_tokens: read, render, answer, bill, write.
import type { SimRequest, SimResponse, SurfaceContext } from "../surface.ts";
import type { PromptMemory } from "./diagnostics.ts";
import { generateReply } from "./reply/generate-reply.ts";
import { readRequest } from "./request/read-request.ts";
import { renderPrompt, validateLength } from "./render/render-prompt.ts";
import { jsonResponse } from "./refusal.ts";
import { readBetas, type ApiCall } from "./request-headers.ts";
import { toCallRecord } from "../record-call.ts";
import { settingsOf } from "./settings.ts";
import { messageEvents, messageText, type Outcome } from "./reply/write-message.ts";

export function countMessageTokens(
  sent: SimRequest,
  { version }: ApiCall,
  { counter }: SurfaceContext,
): SimResponse {
  const request = readRequest(sent.bodyText, { version, betas: readBetas(sent), purpose: "count" });
  // A count covers the conversation as sent; a requested summary does not change it.
  const plain = { ...request, options: { ...request.options, compaction: null } };
  const { totalTokens } = renderPrompt(plain, counter);
  const management = request.options.hasContextManagement
    ? { context_management: { original_input_tokens: totalTokens } }
    : {};
  return jsonResponse(JSON.stringify({ input_tokens: totalTokens, ...management }));
}

export function createMessage(
  sent: SimRequest,
  { requestId, version }: ApiCall,
  context: SurfaceContext,
  memory: PromptMemory,
): SimResponse {
  const { nowMs, workspace, newId } = context;
  const request = readRequest(sent.bodyText, {
    version,
    betas: readBetas(sent),
    purpose: "create",
  });
  const prompt = renderPrompt(request, context.counter);
  validateLength(prompt, request);
  const id = newId("msg_");
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
  const priceShare = options.speed === "fast" ? null : 1;
  const { stopReason } = made;
  const called = { surface: "anthropic", facts, bill, generated: made, stopReason, startMs: nowMs };
  context.record(toCallRecord({ ...called, priceShare }));
  const outcome: Outcome = {
    ...made,
    id,
    request,
    bill,
    diagnostics: memory.diagnose({ workspace, messageId: id, request, prompt }),
    transformations: prompt.transformations,
  };
  return { ...written(outcome), bill: open };
}

function written(outcome: Outcome): SimResponse {
  if (!outcome.request.options.stream) return jsonResponse(messageText(outcome));
  return {
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" },
    body: { [Symbol.iterator]: () => messageEvents(outcome) },
  };
}
