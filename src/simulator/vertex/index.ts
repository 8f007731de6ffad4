// The Vertex surface: Claude on Google Cloud, whole, as a stream, and counted.
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { readCarried } from "../anthropic/carried-request.ts";
import { answerMessages, countRequest, messageResponse } from "../anthropic/create-message.ts";
import { overloadedEvent } from "../anthropic/reply/write-message.ts";
import {
  invented,
  jsonResponse,
  Refusal,
  refusalOf,
  refusalResponse,
} from "../anthropic/refusal.ts";
import { fields, type Place } from "../anthropic/request/read-fields.ts";
import { readBody, type MessagesRequest } from "../anthropic/request/read-request.ts";
import { readBetas } from "../anthropic/request-headers.ts";
import {
  noRetry,
  type HttpFault,
  type Route,
  type SimRequest,
  type SimResponse,
  type Surface,
  type SurfaceContext,
} from "../surface.ts";
import { errorResponse, GoogleError } from "./google-error.ts";

export function createVertexSurface(): Surface {
  return {
    name: "vertex",
    authenticate: ({ headers, params }) => {
      const bearer = /^Bearer\s+(\S+)\s*$/i.exec(headers.get("authorization") ?? "");
      if (bearer === null) return { refusal: errorResponse(unauthenticated) };
      // Tokens change every hour; a cache belongs to the project, in one location.
      return { key: `project ${params["project"]} in ${params["location"]}` };
    },
    fault: (fault, { newId }) => faultResponse(fault, newId("req_vrtx_")),
    errorEvent: overloadedEvent,
    isClient: (headers) => headers.has("x-goog-api-client") || headers.has("x-goog-user-project"),
    refuse: ({ status, message }) => {
      const names = { 404: "NOT_FOUND", 413: "INVALID_ARGUMENT", 500: "INTERNAL" } as const;
      const response = errorResponse(new GoogleError(names[status], message), status);
      return { ...response, headers: { ...response.headers, ...noRetry } };
    },
    routes: [
      route("count-tokens:rawPredict", countTokens),
      route("(?<model>[^/:]+):rawPredict", (...call) => predict(false, ...call)),
      route("(?<model>[^/:]+):streamRawPredict", (...call) => predict(true, ...call)),
    ],
  };
}

const unauthenticated = new GoogleError(
  "UNAUTHENTICATED",
  "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.",
);

/** Google limits the rate; everything else comes from the model's own API. */
function faultResponse(fault: HttpFault, requestId: string): SimResponse {
  if (fault.kind !== "rate limited") return refusalResponse(refusalOf(fault), requestId);
  const message =
    "Resource exhausted. Please try again later. Please refer to https://cloud.google.com/vertex-ai/generative-ai/docs/error-code-429 for more details.";
  const response = errorResponse(new GoogleError("RESOURCE_EXHAUSTED", message));
  const { retryAfterSeconds: seconds } = fault;
  const retry = seconds === null ? {} : { "retry-after": String(seconds) };
  return { ...response, headers: { ...response.headers, ...retry } };
}

type Handle = (request: SimRequest, requestId: string, context: SurfaceContext) => SimResponse;

function route(method: string, handle: Handle): Route {
  const publisher =
    "/v1(?:beta1)?/projects/(?<project>[^/]+)/locations/(?<location>[^/]+)/publishers";
  return {
    method: "POST",
    path: new RegExp(`${publisher}/anthropic/models/${method}`),
    handle: (request, context) => {
      const requestId = context.newId("req_vrtx_");
      try {
        const response = handle(request, requestId, context);
        return { ...response, headers: { "request-id": requestId, ...response.headers } };
      } catch (error) {
        if (error instanceof Refusal) return refusalResponse(error, requestId);
        if (error instanceof GoogleError) return errorResponse(error);
        throw error;
      }
    },
  };
}

function predict(
  stream: boolean,
  request: SimRequest,
  requestId: string,
  context: SurfaceContext,
): SimResponse {
  const body = readBody(request.bodyText);
  const asked = fields.findFlag(body, "stream");
  if (asked !== null && asked !== stream)
    throw invented(`stream: ${asked} does not fit ${stream ? "streamRawPredict" : "rawPredict"}`);
  const read = readPredict(request, body, { name: request.params["model"] ?? "", stream });
  const { outcome, open } = answerMessages(
    read,
    { requestId, surface: "vertex", idPrefix: "msg_vrtx_" },
    {
      ...context,
      newId: (prefix) => context.newId(prefix === "toolu_" ? "toolu_vrtx_" : prefix),
    },
    null,
  );
  return { ...messageResponse(outcome), bill: open };
}

function readPredict(
  request: SimRequest,
  body: Place,
  asked: { readonly name: string; readonly stream: boolean | null },
): MessagesRequest {
  return readCarried(body, {
    facts: modelAt(request.params, asked.name),
    purpose: asked.stream === null ? "count" : "create",
    stream: asked.stream ?? false,
    firstVersion: "vertex-2023-10-16",
    headerBetas: readBetas(request),
    own: asked.stream === null ? ["model"] : ["stream"],
  });
}

/** A count names its model in the body. */
function countTokens(
  request: SimRequest,
  _requestId: string,
  { counter }: SurfaceContext,
): SimResponse {
  const body = readBody(request.bodyText);
  const read = readPredict(request, body, { name: fields.textAt(body, "model"), stream: null });
  return jsonResponse(JSON.stringify({ input_tokens: countRequest(read, counter) }));
}

/** Prices and rules depend on the location too. Names in the spelling of other routes are refused. */
function modelAt(
  { project = "", location = "" }: Readonly<Record<string, string>>,
  name: string,
): ModelFacts {
  const isSpelledSo = /^claude-[a-z0-9-]+(?:@\w+)?$/.test(name) && /^[a-z0-9-]+$/.test(location);
  // The project changes nothing about the model, and may be spelled in any way.
  const path = `projects/any/locations/${location}/publishers/anthropic/models/${name}`;
  const found = isSpelledSo ? findModel(path) : null;
  if (found !== null && found.route === "vertex") return found.facts;
  throw new GoogleError(
    "NOT_FOUND",
    `Publisher Model \`projects/${project}/locations/${location}/publishers/anthropic/models/${name}\` was not found or your project does not have access to it. Please ensure you are using a valid model version. For more information, see: https://cloud.google.com/vertex-ai/generative-ai/docs/learn/model-versions`,
  );
}
