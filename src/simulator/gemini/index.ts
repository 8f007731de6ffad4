// The Gemini surface: generateContent, streams, counting, models and stored prefixes, on the Gemini API and on Vertex.
import type { Route, SimRequest, SimResponse, Surface, SurfaceContext } from "../surface.ts";
import { ApiError, toErrorResponse, toFault, toOuterResponse } from "./api-error.ts";
import * as contents from "./cached-contents/answer-contents.ts";
import { createContentStore, type ContentStore } from "./cached-contents/content-store.ts";
import { projectNumber } from "./cached-contents/names.ts";
import { answerCount, answerGenerate, answerStream } from "./generate.ts";
import { answerModel, answerModels, type Way } from "./models.ts";

const ways: readonly Way[] = ["gemini-api", "vertex"];

/** Paths of the Gemini API begin with a version; those of Vertex name the project and the region as well, unless a key stands for them. */
const prefixes: Readonly<Record<Way, string>> = {
  "gemini-api": String.raw`\/v1(?:beta|alpha)?`,
  vertex: String.raw`\/v1(?:beta1)?(?:\/projects\/(?<project>[^/]+)\/locations\/(?<location>[^/]+))?`,
};
const publisher: Readonly<Record<Way, string>> = {
  "gemini-api": "",
  vertex: String.raw`publishers\/google\/`,
};
const model = String.raw`models\/(?<model>[^/:]+)`;
const contentId = String.raw`cachedContents\/(?<id>[^/:]+)`;

export function createGeminiSurface(): Surface {
  const store = createContentStore();
  const route = (method: Route["method"], way: Way, path: string, answer: Answer): Route => ({
    method,
    path: new RegExp(`${prefixes[way]}\\/${path}`),
    handle: (request, context) => refusing(request, () => answer(way, request, context, store)),
  });
  /** On both ways. */
  const both = (method: Route["method"], path: string, answer: Answer): readonly Route[] =>
    ways.map((way) => route(method, way, path, answer));
  const ofModel = (name: string, answer: Answer): readonly Route[] =>
    ways.map((way) => route("POST", way, `${publisher[way]}${model}:${name}`, answer));
  return {
    name: "gemini",
    authenticate,
    fault: toFault,
    isClient: (headers) => headers.has("x-goog-api-key") || headers.has("x-goog-api-client"),
    refuse: toOuterResponse,
    routes: [
      ...ofModel("generateContent", answerGenerate),
      ...ofModel("streamGenerateContent", answerStream),
      ...ofModel("countTokens", answerCount),
      ...both("POST", "cachedContents", contents.createContent),
      ...both("GET", "cachedContents", contents.listContents),
      ...both("GET", contentId, contents.showContent),
      ...both("PATCH", contentId, contents.updateContent),
      ...both("DELETE", contentId, contents.deleteContent),
      route("GET", "gemini-api", "models", (_way, request) => answerModels(request)),
      route("GET", "gemini-api", model, (_way, request) => answerModel(request)),
    ],
  };
}

type Answer = (
  way: Way,
  request: SimRequest,
  context: SurfaceContext,
  store: ContentStore,
) => SimResponse;

/** Turns errors of the request into answers; our own errors pass through. */
function refusing(request: SimRequest, answer: () => SimResponse): SimResponse {
  try {
    return answer();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return toErrorResponse(error, isList(request));
  }
}

/** A stream that is no event stream is a list, and so is its error. */
function isList({ path, query }: SimRequest): boolean {
  return path.endsWith(":streamGenerateContent") && query.get("alt") !== "sse";
}

/** Any key is accepted; it only decides who shares a cache. On Vertex the project does. */
function authenticate(request: SimRequest): ReturnType<Surface["authenticate"]> {
  const { headers, query, path } = request;
  const bearer = /^bearer\s+(\S.*)$/i.exec(headers.get("authorization")?.trim() ?? "")?.[1];
  const key = headers.get("x-goog-api-key") ?? query.get("key") ?? "";
  const owner = /\/projects\/([^/]+)\//.exec(path)?.[1];
  if (owner !== undefined) {
    if (bearer !== undefined || key !== "") return { key: `project ${projectNumber(owner)}` };
    return { refusal: toErrorResponse(new ApiError("UNAUTHENTICATED", noToken)) };
  }
  if (key !== "") return { key };
  if (bearer !== undefined) return { key: bearer };
  return { refusal: toErrorResponse(new ApiError("PERMISSION_DENIED", noKey)) };
}

const noKey =
  "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.";

const noToken =
  "Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.";
