// POST /chat/completions of a vendor: read, refuse, answer, bill, write.
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { toPlainValue } from "../json-source.ts";
import { ApiError } from "../openai/api-error.ts";
import { fields, readBody, type Place } from "../openai/request/fields.ts";
import { runCall, type Call } from "../openai/run-call.ts";
import { toCallRecord } from "../record-call.ts";
import type { SimRequest, SimResponse, SurfaceContext } from "../surface.ts";
import { isFields } from "../../core/models/read-fields.ts";
import { toCompletion, toVendorReply, vendorChunks } from "./chat-reply.ts";
import { noModel, overflow, refuse, toRefusal } from "./errors.ts";
import { readVendorChat } from "./read-chat.ts";
import { findRefusal } from "./refusals.ts";
import { countedBy, prefillMs, streamEnd, type LocalServer } from "./usage.ts";
import type { VendorRow } from "./vendor-row.ts";

export function answerVendorChat(
  row: VendorRow,
  request: SimRequest,
  context: SurfaceContext,
  local: LocalServer,
): SimResponse {
  try {
    const body = readBody(request.bodyText);
    const plain = toPlainValue(body.object);
    const refusal = isFields(plain) ? findRefusal(row.refuses, plain) : null;
    if (refusal !== null) return refuse(row, refusal, context);
    return answer(row, body, context, local);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return refuse(row, toRefusal(error), context);
  }
}

function answer(
  row: VendorRow,
  body: Place,
  context: SurfaceContext,
  local: LocalServer,
): SimResponse {
  const name = fields.textAt(body, "model");
  const facts = findVendorModel(row, name);
  if (facts === null) return refuse(row, noModel(name), context);
  const { thinking, keeping, marksMessagesOnly } = row;
  const takesMarkers = !marksMessagesOnly;
  const read = readVendorChat(body, { facts, thinking, keeping, takesMarkers });
  const call = runVendorCall(row, read, context);
  if ("refusal" in call) return call.refusal;
  const reply = toVendorReply(call, row, context);
  recordVendorCall(row, call, reply.finishReason, context);
  const counted = countedBy(row, call, local);
  const { usage, beside } = counted;
  const headers = { "x-request-id": context.newId("req_") };
  const waitMs = local.waits && row.isLocal ? prefillMs(call.open.bill.uncachedTokens, local) : 0;
  const common = { status: 200, bill: call.open, firstByteMs: waitMs };
  if (fields.findFlag(body, "stream") !== true) {
    const whole = JSON.stringify(toCompletion(reply, { usage, ...beside }));
    return { ...common, headers: { ...headers, "content-type": "application/json" }, body: whole };
  }
  const options = fields.findPlace(body, "stream_options");
  const isAsked = options !== null && fields.findFlag(options, "include_usage") === true;
  const end = streamEnd(row, counted, call.id, isAsked);
  return {
    ...common,
    headers: { ...headers, "content-type": "text/event-stream; charset=utf-8" },
    body: vendorChunks(reply, end),
  };
}

/** Runs the call; a prompt that is too long is refused in the vendor's words. */
function runVendorCall(
  row: VendorRow,
  read: Parameters<typeof runCall>[1],
  context: SurfaceContext,
): Call | { readonly refusal: SimResponse } {
  try {
    return runCall(context.newId("chatcmpl-"), read, context, "reply");
  } catch (error) {
    if (!(error instanceof ApiError) || error.tokens === null) throw error;
    const { tokens } = error;
    return { refusal: refuse(row, overflow(row, tokens.sent, tokens.max), context) };
  }
}

/** A model of this vendor by a name that it knows; any name where models are not listed. Null for none. */
export function findVendorModel(row: VendorRow, name: string): ModelFacts | null {
  const listed = name.includes("/") ? null : findModel(name);
  if (listed !== null && listed.facts.provider === row.models) return listed.facts;
  const open = findModel(`${row.name}/${name}`);
  return open?.matched === "any name" ? open.facts : null;
}

export function recordVendorCall(
  row: Pick<VendorRow, "name">,
  { request, produced, open }: Call,
  stopReason: string,
  context: SurfaceContext,
): void {
  context.record(
    toCallRecord({
      surface: row.name,
      facts: request.facts,
      bill: open.bill,
      generated: produced,
      stopReason,
      startMs: context.nowMs,
      priceShare: 1,
    }),
  );
}
