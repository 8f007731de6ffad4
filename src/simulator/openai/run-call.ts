// Runs one call from the parsed request to bill and reply, for every endpoint that generates.
import type { OpenBill } from "../billing/bill.ts";
import type { SimResponse, SurfaceContext } from "../surface.ts";
import { jsonHeaders, limitHeaders, streamHeaders } from "./headers.ts";
import type { Prompt } from "../prompt.ts";
import { toCallRecord } from "../record-call.ts";
import { contextOverflow } from "./api-error.ts";
import { nothingProduced, toProduced, type Produced } from "./reply/produce.ts";
import { callableTools, type ReadRequest } from "./request/read-request.ts";
import { render, type Rendering } from "./render/render.ts";
import { toPrompt } from "./to-prompt.ts";

export interface Call {
  readonly id: string;
  readonly request: ReadRequest;
  readonly rendering: Rendering;
  readonly open: OpenBill;
  readonly produced: Produced;
}

export function runCall(
  id: string,
  request: ReadRequest,
  context: SurfaceContext,
  wants: Prompt["wants"] | "nothing",
): Call {
  const { facts, cache, settings } = request;
  const rendering = render(request, context.counter);
  if (rendering.totalTokens > facts.inputTokensMax) {
    throw contextOverflow(request.api, rendering.totalTokens, facts.inputTokensMax);
  }
  // The model answers before the bill is opened: if it fails, nothing is billed.
  const produced = wants === "nothing" ? nothingProduced : answer(request, wants, context);
  const lifetime = facts.cache.markers === null ? settings.retention : cache.lifetime;
  const open = context.billing.open({
    id,
    workspace: context.workspace,
    model: facts,
    blocks: rendering.blocks,
    markers: rendering.markers,
    mode: cache.mode,
    ...(lifetime === null ? {} : { implicitLifetime: lifetime }),
    settings: settings.billable,
    startMs: context.nowMs,
  });
  return { id, request, rendering, open, produced };
}

function answer(request: ReadRequest, wants: Prompt["wants"], context: SurfaceContext): Produced {
  const prompt = toPrompt(request, wants);
  const tools = callableTools(request);
  const { tokenizer } = request.facts;
  const reply = context.answer(prompt);
  return toProduced(reply, tools, prompt.outputTokensMax, context.counter, tokenizer);
}

export function answerOf(
  { rendering, open }: Call,
  body: SimResponse["body"],
  context: SurfaceContext,
): SimResponse {
  const headers = typeof body === "string" ? jsonHeaders(context) : streamHeaders(context);
  const limits = limitHeaders(rendering.totalTokens);
  return { status: 200, headers: { ...headers, ...limits }, body, bill: open };
}

/** Flex is half price. Our facts have no price for priority processing. */
const priceShares: Readonly<Record<string, number>> = { default: 1, flex: 0.5 };

export function recordCall(call: Call, stopReason: string, context: SurfaceContext): void {
  const { request, produced, open } = call;
  context.record(
    toCallRecord({
      surface: "openai",
      facts: request.facts,
      bill: open.bill,
      generated: produced,
      stopReason,
      startMs: context.nowMs,
      priceShare: priceShares[request.settings.serviceTier] ?? null,
    }),
  );
}
