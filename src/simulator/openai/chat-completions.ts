// POST /v1/chat/completions.
import type { Catalogue } from "../../core/models/catalogue.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { SimRequest, SimResponse, SurfaceContext } from "../surface.ts";
import { invalid, notSimulated, unsupportedParameter } from "./api-error.ts";
import { chatEvents, toChatCompletion } from "./reply/chat-reply.ts";
import {
  find,
  findCount,
  findFlag,
  findNumber,
  findPlace,
  readBody,
  textAt,
  type Place,
} from "./request/fields.ts";
import { findOpenaiModel } from "./request/find-openai-model.ts";
import { jsonHeaders, limitHeaders, streamHeaders } from "./headers.ts";
import { checkMarkers, readCacheOptions } from "./request/read-cache-options.ts";
import { readMessages } from "./request/read-chat-messages.ts";
import type { ReadRequest } from "./request/read-request.ts";
import { readSettings, type Settings } from "./request/read-settings.ts";
import { readToolChoice } from "./request/read-tool-choice.ts";
import { readTools } from "./request/read-tools.ts";
import { recordCall, runCall } from "./run-call.ts";

export function answerChat(
  request: SimRequest,
  context: SurfaceContext,
  catalogue: Catalogue,
): SimResponse {
  const body = readBody(request.bodyText);
  const read = readChat(body, catalogue);
  const call = runCall(context.newId("chatcmpl-"), read, context, "reply");
  const reply = toChatCompletion(call, context);
  recordCall(call, reply.finishReason, context);
  const limits = limitHeaders(call.rendering.totalTokens);
  const { open: bill } = call;
  if (findFlag(body, "stream") !== true) {
    const headers = { ...jsonHeaders(context), ...limits };
    return { status: 200, headers, body: JSON.stringify(reply.completion), bill };
  }
  const options = findPlace(body, "stream_options");
  const includesUsage = options !== null && findFlag(options, "include_usage") === true;
  const headers = { ...streamHeaders(context), ...limits };
  return { status: 200, headers, body: chatEvents(reply, includesUsage), bill };
}

function readChat(body: Place, catalogue: Catalogue): ReadRequest {
  const model = textAt(body, "model");
  const facts = findOpenaiModel(model, catalogue);
  refuseUnsimulated(body);
  const settings = readSettings(body, "chat", facts);
  checkSampling(body, facts, settings);
  const items = readMessages(body);
  checkMarkers(items, facts);
  return {
    api: "chat",
    model,
    facts,
    tools: readTools(body, "tools"),
    instructions: null,
    items,
    cache: readCacheOptions(body, "chat", facts),
    settings,
    toolChoice: readToolChoice(body),
    outputTokensMax: outputLimit(body, facts),
  };
}

function refuseUnsimulated(body: Place): void {
  for (const key of ["functions", "function_call", "audio", "prediction", "web_search_options"]) {
    if (find(body, key) !== null) throw notSimulated(`'${key}'`, key);
  }
  if ((findCount(body, "n", 1) ?? 1) > 1) throw notSimulated("More than one choice", "n");
}

function checkSampling(body: Place, facts: ModelFacts, { effort }: Settings): void {
  const temperature = findNumber(body, "temperature");
  if (temperature === null || temperature === 1 || effort === "none") return;
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
