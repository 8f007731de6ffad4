// POST /api/v1/chat/completions of the router: choose a host, go on to the next if it fails, bill at that host's cache.
import { assert } from "../../core/assert.ts";
import { formatUsd } from "../../core/models/pico-usd.ts";
import { ratesAt } from "../../core/models/prices.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { ApiError } from "../openai/api-error.ts";
import { fields, readBody, type Place } from "../openai/request/fields.ts";
import { isInitial } from "../openai/request/items.ts";
import type { ReadRequest } from "../openai/request/read-request.ts";
import { runCall, type Call } from "../openai/run-call.ts";
import { findPicoUsd, toCallRecord, type BilledCall } from "../record-call.ts";
import type { CallRecord, SimRequest, SimResponse, SurfaceContext } from "../surface.ts";
import { toCompletion, toVendorReply, vendorChunks } from "../vendors/chat-reply.ts";
import { readVendorChat } from "../vendors/read-chat.ts";
import { readHostWish } from "./choose-host.ts";
import type { Desk } from "./desk.ts";
import { overflow, refuse } from "./errors.ts";
import { findRoutedModel, hostFacts, type RoutedModel } from "./hosts.ts";

const form = { thinking: "reasoning", callIds: "call_" } as const;

export function answerRoutedChat(
  request: SimRequest,
  context: SurfaceContext,
  desk: Desk,
): SimResponse {
  try {
    return answer(readBody(request.bodyText), request, context, desk);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { tokens, status, body } = error;
    return tokens === null
      ? refuse({ status, message: body.message }, context)
      : refuse(overflow(tokens.sent, tokens.max), context);
  }
}

function answer(
  body: Place,
  request: SimRequest,
  context: SurfaceContext,
  desk: Desk,
): SimResponse {
  const name = fields.textAt(body, "model");
  const model = findRoutedModel(name);
  if (model === null) {
    return refuse({ status: 400, message: `${name} is not a valid model ID` }, context);
  }
  const read = readRouted(body, model);
  const { workspace } = context;
  const wish = readHostWish(body, request.headers, { workspace, model: model.facts.id });
  const found = desk.findHost(model, wish, context);
  if ("refusal" in found) return refuse(found.refusal, context);
  const { host } = found;
  const call = runCall(context.newId("gen-"), read, context, "reply", host);
  const reply = toVendorReply(call, form, context);
  const { finishReason: stopReason } = reply;
  const called = { facts: model.facts, bill: call.open.bill, generated: call.produced, stopReason };
  const charged = chargeRouted(called, host, context);
  desk.settle({ model, wish, host, ...charged }, context);
  const usage = usageOf(call, charged, model.facts);
  const said = { ...reply, head: { ...reply.head, provider: host } };
  const headers = { "x-request-id": context.newId("req_") };
  const common = { status: 200, bill: call.open };
  if (fields.findFlag(body, "stream") !== true) {
    const whole = JSON.stringify(toCompletion(said, { usage }));
    return { ...common, headers: { ...headers, "content-type": "application/json" }, body: whole };
  }
  const chunks = vendorChunks(said, { withStop: {}, inChoice: {}, after: { usage } });
  return {
    ...common,
    headers: { ...headers, "content-type": "text/event-stream; charset=utf-8" },
    body: withComment(chunks),
  };
}

function readRouted(body: Place, { facts, keeping }: RoutedModel): ReadRequest {
  const reading = { facts, thinking: form.thinking, keeping, takesMarkers: true };
  const read = readVendorChat(body, reading);
  if (!hostFacts.systemFirst.includes(facts.provider)) return read;
  const { items } = read;
  return { ...read, items: [...items.filter(isInitial), ...items.filter((it) => !isInitial(it))] };
}

/** The router says that it works before the host says anything. */
function* withComment(chunks: Iterable<string>): Iterable<string> {
  yield ": OPENROUTER PROCESSING\n\n";
  yield* chunks;
}

/** What a call costs at its host, and its record. */
export interface Charged {
  readonly record: CallRecord;
  readonly picoUsd: bigint;
}

/** Every model that is routed has a price. */
export function chargeRouted(
  called: Pick<BilledCall, "facts" | "bill" | "generated" | "stopReason">,
  host: string,
  context: SurfaceContext,
): Charged {
  const call = { ...called, surface: "openrouter", startMs: context.nowMs, priceShare: 1 };
  const picoUsd = findPicoUsd(call);
  assert(picoUsd !== null, `${called.facts.id} has no price`);
  const record: CallRecord = { ...toCallRecord(call), host };
  context.record(record);
  return { record, picoUsd };
}

function usageOf(
  { open, produced }: Call,
  { record, picoUsd }: Charged,
  facts: ModelFacts,
): object {
  const { totalTokens, readTokens, writeTokens } = open.bill;
  const written = Object.values(writeTokens).reduce((sum, tokens) => sum + tokens, 0);
  return {
    prompt_tokens: totalTokens,
    completion_tokens: produced.outputTokens,
    total_tokens: totalTokens + produced.outputTokens,
    ...costMembers(picoUsd),
    prompt_tokens_details: {
      cached_tokens: readTokens,
      // Only where writing has a price of its own.
      ...(hasWritePrice(facts, record.startMs) ? { cache_write_tokens: written } : {}),
      audio_tokens: 0,
    },
    completion_tokens_details: { reasoning_tokens: produced.thinkingTokens },
  };
}

/** What the router charges. Without a key of the client's at the host, the host's own bill is not shown. */
export function costMembers(picoUsd: bigint): object {
  const cost = Number(formatUsd(picoUsd).slice(1));
  return { cost, is_byok: false, cost_details: { upstream_inference_cost: null } };
}

function hasWritePrice({ prices }: ModelFacts, atMs: number): boolean {
  const applied = prices.kind === "priced" ? ratesAt(prices.rows, atMs, 0) : null;
  return applied !== null && Object.keys(applied.rates.writePicoUsd).length > 0;
}
