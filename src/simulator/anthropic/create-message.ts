// POST /v1/messages and its counting sibling: read, render, answer, bill, write.
import type { SimRequest, SimResponse, SurfaceContext } from "../surface.ts";
import { cutReply, type CutReply, type ReplyLimits } from "./cut-reply.ts";
import type { PromptMemory } from "./diagnostics.ts";
import { toPrompt } from "./prompt-view.ts";
import { readRequest, type MessagesRequest } from "./read-request.ts";
import { renderPrompt, validateLength, type RenderedPrompt } from "./render-prompt.ts";
import { toReplyBlocks, type ReplyBlock } from "./reply-blocks.ts";
import { readBetas, type ApiVersion } from "./request-headers.ts";
import { settingsOf } from "./settings.ts";
import { signSummary } from "./signature.ts";
import { costUsdOf } from "./usage.ts";
import { isThinking } from "./validate-options.ts";
import { messageEvents, messageText, type Outcome } from "./write-message.ts";

interface Call {
  readonly requestId: string;
  readonly version: ApiVersion;
}

export function countMessageTokens(
  sent: SimRequest,
  { version }: Call,
  { counter }: SurfaceContext,
): SimResponse {
  const request = readRequest(sent.bodyText, { version, betas: readBetas(sent), purpose: "count" });
  // A count is of the conversation as sent: asking for its summary changes nothing.
  const plain = { ...request, options: { ...request.options, compaction: null } };
  const { totalTokens } = renderPrompt(plain, counter);
  const management = request.options.hasContextManagement
    ? { context_management: { original_input_tokens: totalTokens } }
    : {};
  return jsonResponse(JSON.stringify({ input_tokens: totalTokens, ...management }));
}

export function createMessage(
  sent: SimRequest,
  { requestId, version }: Call,
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
  // The answer first: if the model has none, nothing was billed.
  const made = generate(request, prompt, context);
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
  context.record({
    surface: "anthropic",
    model: request.facts.id,
    startMs: nowMs,
    bill,
    outputTokens: made.outputTokens - made.thinkingTokens,
    reasoningTokens: made.thinkingTokens,
    costUsd: costUsdOf(bill, made, request, nowMs),
    stopReason: made.stopReason,
  });
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

type Made = Pick<
  Outcome,
  "blocks" | "stopReason" | "stopSequence" | "outputTokens" | "thinkingTokens"
>;

function generate(request: MessagesRequest, prompt: RenderedPrompt, context: SurfaceContext): Made {
  const limits = limitsOf(request, prompt);
  if (request.options.maxTokens === 0)
    return { blocks: [], stopReason: "max_tokens", stopSequence: null, ...nothingGenerated };
  const reply = context.answer(toPrompt(request, limits.tokensMax));
  const { facts, options } = request;
  const scale = { counter: context.counter, tokenizer: facts.tokenizer };
  const cut = cutReply(reply, limits, scale);
  if (options.compaction !== null) return summarised(cut, prompt);
  const blocks = toReplyBlocks(cut.parts, prompt.state, {
    model: facts.id,
    display: options.thinking?.display ?? null,
    newId: context.newId,
  });
  return { ...cut, blocks };
}

const nothingGenerated = { outputTokens: 0, thinkingTokens: 0 };

/** A summary is one block or none: where the model did not finish one, the reply is empty. */
function summarised(cut: CutReply, { state }: RenderedPrompt): Made {
  const content = cut.parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
  if (cut.stopReason !== "end_turn" || content === "") return { ...cut, blocks: [] };
  const signature = signSummary(content, state.messages);
  const blocks: ReplyBlock[] = [{ type: "compaction", content, signature }];
  return { ...cut, blocks, stopReason: "compaction" };
}

function limitsOf(request: MessagesRequest, { totalTokens }: RenderedPrompt): ReplyLimits {
  const { facts, options } = request;
  const asked = options.maxTokens ?? 0;
  const left = Math.max(0, facts.windowTokens - totalTokens);
  return {
    tokensMax: Math.min(asked, left),
    atLimit: left < asked ? "model_context_window_exceeded" : "max_tokens",
    stopSequences: options.stopSequences,
    thinks: isThinking(request),
  };
}

function written(outcome: Outcome): SimResponse {
  if (!outcome.request.options.stream) return jsonResponse(messageText(outcome));
  return {
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" },
    body: { [Symbol.iterator]: () => messageEvents(outcome) },
  };
}

function jsonResponse(body: string): SimResponse {
  return { status: 200, headers: { "content-type": "application/json" }, body };
}
