// generateContent, streamGenerateContent and countTokens.
import type { SimRequest, SimResponse, SurfaceContext } from "../surface.ts";
import { jsonHeaders } from "./api-error.ts";
import { findGeminiModel, type Way } from "./models.ts";
import { toChunks, toWhole } from "./reply/response-text.ts";
import { renderPrompt } from "./render/render.ts";
import { fields, readBody, type Place } from "./request/fields.ts";
import { readPromptPart, readRequest, type ReadRequest } from "./request/read-request.ts";
import { runCall, type WholePrompt } from "./run-call.ts";

export function answerGenerate(
  way: Way,
  request: SimRequest,
  context: SurfaceContext,
): SimResponse {
  const { reply, open } = runCall(...readWhole(way, request, context), context);
  return { status: 200, headers: jsonHeaders, body: toWhole(reply), bill: open };
}

/** Server-sent events if the client asks for them, else a list of responses that grows. */
export function answerStream(way: Way, request: SimRequest, context: SurfaceContext): SimResponse {
  const { reply, open } = runCall(...readWhole(way, request, context), context);
  const chunks = toChunks(reply);
  if (request.query.get("alt") !== "sse") {
    return { status: 200, headers: jsonHeaders, body: toGrowingList(chunks), bill: open };
  }
  const headers = { "content-type": "text/event-stream" };
  return { status: 200, headers, body: toEvents(chunks), bill: open };
}

function* toEvents(chunks: Iterable<string>): Iterable<string> {
  for (const chunk of chunks) yield `data: ${chunk}\r\n\r\n`;
}

function* toGrowingList(chunks: Iterable<string>): Iterable<string> {
  let isFirst = true;
  for (const chunk of chunks) {
    yield `${isFirst ? "[" : ",\r\n"}${chunk}`;
    isFirst = false;
  }
  yield "]";
}

function readWhole(
  way: Way,
  request: SimRequest,
  _context: SurfaceContext,
): readonly [ReadRequest, WholePrompt] {
  const model = request.params["model"] ?? "";
  const facts = findGeminiModel(model, way, request);
  const body = readBody(request.bodyText, "GenerateContentRequest");
  const read = readRequest(body, model, facts);
  return [read, { ...read, stored: null }];
}

/** Counts contents, or a whole request with its tools and system text. */
export function answerCount(way: Way, request: SimRequest, context: SurfaceContext): SimResponse {
  const facts = findGeminiModel(request.params["model"] ?? "", way, request);
  const body = readBody(request.bodyText, "CountTokensRequest");
  const counted: Place = fields.findPlace(body, "generateContentRequest") ?? body;
  const prompt = readPromptPart(counted);
  const { totalTokens, modalities } = renderPrompt(prompt, facts, context.counter);
  const answer = { totalTokens, promptTokensDetails: modalities };
  return { status: 200, headers: jsonHeaders, body: JSON.stringify(answer, null, 2) };
}
