// The Gemini surface: generateContent, streams, counting and models, on the Gemini API and on Vertex.
import type { Route, SimRequest, SimResponse, Surface } from "../surface.ts";
import { ApiError, toErrorResponse, toFault, toOuterResponse } from "./api-error.ts";
import { answerCount, answerGenerate, answerStream } from "./generate.ts";
import { answerModel, answerModels, type Way } from "./models.ts";

/** Paths of the Gemini API begin with a version. */
const version = String.raw`\/v1(?:beta|alpha)?`;
/** Paths of Vertex name the project and the region as well. */
const project = String.raw`\/v1(?:beta1)?\/projects\/(?<project>[^/]+)\/locations\/(?<location>[^/]+)`;
const model = String.raw`models\/(?<model>[^/:]+)`;

export function createGeminiSurface(): Surface {
  return {
    name: "gemini",
    authenticate,
    fault: toFault,
    isClient: (headers) => headers.has("x-goog-api-key") || headers.has("x-goog-api-client"),
    refuse: toOuterResponse,
    routes: [
      ...method("generateContent", answerGenerate),
      ...method("streamGenerateContent", answerStream),
      ...method("countTokens", answerCount),
      get(new RegExp(`${version}\\/models`), answerModels),
      get(new RegExp(`${version}\\/${model}`), answerModel),
    ],
  };
}

type Answer = (way: Way, ...rest: Parameters<Route["handle"]>) => SimResponse;

/** A method of a model, on both ways. */
function method(name: string, answer: Answer): readonly Route[] {
  const post = (way: Way, path: string): Route => ({
    method: "POST",
    path: new RegExp(`${path}\\/${model}:${name}`),
    handle: (request, context) => refusing(request, () => answer(way, request, context)),
  });
  return [post("gemini-api", version), post("vertex", `${project}\\/publishers\\/google`)];
}

function get(path: RegExp, answer: (request: SimRequest) => SimResponse): Route {
  return { method: "GET", path, handle: (request) => refusing(request, () => answer(request)) };
}

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
    if (bearer !== undefined || key !== "") return { key: `project ${owner}` };
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
