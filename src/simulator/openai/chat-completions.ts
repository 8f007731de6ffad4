// POST /v1/chat/completions.
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { SimRequest, SimResponse, SurfaceContext } from "../surface.ts";
import { invalid, notSimulated, unsupportedParameter } from "./api-error.ts";
import { chatEvents, toChatCompletion } from "./reply/chat-reply.ts";
import { fields, find, findCount, readBody, type Place } from "./request/fields.ts";
import { checkMarkers } from "./request/read-cache-options.ts";
import { readMessages } from "./request/read-chat-messages.ts";
import { readShared, type ReadRequest } from "./request/read-request.ts";
import { answerOf, recordCall, runCall } from "./run-call.ts";

export function answerChat(request: SimRequest, context: SurfaceContext): SimResponse {
  const body = readBody(request.bodyText);
  const read = readChat(body);
  const call = runCall(context.newId("chatcmpl-"), read, context, "reply");
  const reply = toChatCompletion(call, context);
  recordCall(call, reply.finishReason, context);
  if (fields.findFlag(body, "stream") !== true) {
    return answerOf(call, JSON.stringify(reply.completion), context);
  }
  const options = fields.findPlace(body, "stream_options");
  const includesUsage = options !== null && fields.findFlag(options, "include_usage") === true;
  return answerOf(call, chatEvents(reply, includesUsage), context);
}

function readChat(body: Place): ReadRequest {
  const shared = readShared(body, "chat");
  const { facts } = shared;
  refuseUnsimulated(body);
  checkSampling(body, shared);
  const items = readMessages(body);
  checkMarkers(items, facts);
  return { ...shared, instructions: null, items, outputTokensMax: outputLimit(body, facts) };
}

export function refuseUnsimulated(body: Place): void {
  for (const key of ["functions", "function_call", "audio", "prediction", "web_search_options"]) {
    if (find(body, key) !== null) throw notSimulated(`'${key}'`, key);
  }
  if ((findCount(body, "n", 1) ?? 1) > 1) throw notSimulated("More than one choice", "n");
}

function checkSampling(
  body: Place,
  { facts, settings }: Pick<ReadRequest, "facts" | "settings">,
): void {
  const temperature = fields.findNumber(body, "temperature");
  if (temperature === null || temperature === 1 || settings.effort === "none") return;
  if (facts.capabilities.samplingControls) return;
  const message = `Unsupported value: 'temperature' does not support ${temperature} with this model. Only the default (1) value is supported.`;
  throw invalid(message, "temperature", "unsupported_value");
}

function outputLimit(body: Place, facts: ModelFacts): number | null {
  const older = findCount(body, "max_tokens", 1);
  if (older !== null && facts.capabilities.thinking) {
    throw unsupportedParameter("max_tokens", " Use 'max_completion_tokens' instead.");
  }
  const newer = findCount(body, "max_completion_tokens", 1);
  const limit = newer ?? older;
  const most = facts.outputTokensMax;
  if (limit !== null && most !== null && limit > most) {
    const param = newer === null ? "max_tokens" : "max_completion_tokens";
    const message = `${param} is too large: ${limit}. This model supports at most ${most} completion tokens, whereas you provided ${limit}.`;
    throw invalid(message, param, "invalid_value");
  }
  return limit;
}
