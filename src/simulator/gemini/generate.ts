// generateContent, streamGenerateContent and countTokens.
import type { SimRequest, SimResponse, SurfaceContext } from "../surface.ts";
import { invalid, jsonHeaders } from "./api-error.ts";
import { contentOf } from "./cached-contents/answer-contents.ts";
import type { CachedContent, ContentStore } from "./cached-contents/content-store.ts";
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
  store: ContentStore,
): SimResponse {
  const { reply, open } = runCall(...readWhole(way, request, context, store), context);
  return { status: 200, headers: jsonHeaders, body: toWhole(reply), bill: open };
}

/** Server-sent events if the client asks for them, else a list of responses that grows. */
export function answerStream(
  way: Way,
  request: SimRequest,
  context: SurfaceContext,
  store: ContentStore,
): SimResponse {
  const { reply, open } = runCall(...readWhole(way, request, context, store), context);
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
  context: SurfaceContext,
  store: ContentStore,
): readonly [ReadRequest, WholePrompt] {
  const model = request.params["model"] ?? "";
  const facts = findGeminiModel(model, way, request);
  const body = readBody(request.bodyText, "GenerateContentRequest");
  const read = readRequest(body, model, facts);
  const { cachedContent } = read;
  const content =
    cachedContent === null ? null : contentOf(request, cachedContent, { way, context, store });
  return [read, content === null ? { ...read, stored: null } : withStored(read, content)];
}

/** The stored prefix that the request names, with the request's own contents behind it. */
function withStored(request: ReadRequest, content: CachedContent): WholePrompt {
  if (content.facts.id !== request.facts.id) {
    const stored = content.model.replace(/^(?:.*\/)?models\//, "");
    throw invalid(
      `Model used by GenerateContent request (models/${request.model}) and CachedContent (models/${stored}) has to be the same.`,
    );
  }
  const { prompt, name } = content;
  return { ...prompt, contents: [...prompt.contents, ...request.contents], stored: name };
}

/** Counts contents, or a whole request with its tools, its system text and its stored prefix. */
export function answerCount(
  way: Way,
  request: SimRequest,
  context: SurfaceContext,
  store: ContentStore,
): SimResponse {
  const facts = findGeminiModel(request.params["model"] ?? "", way, request);
  const body = readBody(request.bodyText, "CountTokensRequest");
  const counted: Place = fields.findPlace(body, "generateContentRequest") ?? body;
  const named = fields.findText(counted, "cachedContent");
  const stored = named === null ? null : contentOf(request, named, { way, context, store });
  const own = readPromptPart(counted);
  const prompt =
    stored === null
      ? own
      : { ...stored.prompt, contents: [...stored.prompt.contents, ...own.contents] };
  const { totalTokens, modalities } = renderPrompt(prompt, "", facts, context.counter);
  const answer = {
    totalTokens,
    ...(stored === null ? {} : { cachedContentTokenCount: stored.tokens }),
    promptTokensDetails: modalities,
  };
  return { status: 200, headers: jsonHeaders, body: JSON.stringify(answer, null, 2) };
}
