// Google's models in the catalogue: by name, as a list, and as the provider describes them.
import { listModels } from "../../core/models/catalogue.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import type { SimRequest, SimResponse } from "../surface.ts";
import { ApiError, invalid, jsonHeaders } from "./api-error.ts";

/** Where a request came in: prices and minimums differ between the Gemini API and Vertex. */
export type Way = "gemini-api" | "vertex";

/** Facts of a model as named in a path or a body, with or without `models/`. */
export function findGeminiModel(name: string, way: Way, request: SimRequest): ModelFacts {
  const id = name.replace(/^(?:.*\/)?models\//, "");
  const found = id.includes("/")
    ? null
    : findModel(way === "vertex" ? `publishers/google/models/${id}` : id);
  const facts = found?.facts;
  const isServed = facts?.provider === "google" && facts.route === way;
  if (facts === undefined || !isServed || facts.lifecycle.status === "retired") {
    throw unknownModel(id, request);
  }
  return facts;
}

function unknownModel(id: string, { path }: SimRequest): ApiError {
  const version = /^\/(v1\w*)\//.exec(path)?.[1] ?? "v1beta";
  const method = /:(\w+)$/.exec(path)?.[1] ?? "generateContent";
  return new ApiError(
    "NOT_FOUND",
    `models/${id} is not found for API version ${version}, or is not supported for ${method}. Call ListModels to see the list of available models and their supported methods.`,
  );
}

/** The list in pages: pageSize 50 unless the client asks for another. */
export function answerModels({ query }: SimRequest): SimResponse {
  const { pageSize, start } = readPage(query, 50, 1_000);
  const all = servedModels();
  const next = start + pageSize;
  const body = {
    models: all.slice(start, next).map(describe),
    ...(next < all.length ? { nextPageToken: toPageToken(next) } : {}),
  };
  return { status: 200, headers: jsonHeaders, body: JSON.stringify(body, null, 2) };
}

export function answerModel(request: SimRequest): SimResponse {
  const facts = findGeminiModel(request.params["model"] ?? "", "gemini-api", request);
  return { status: 200, headers: jsonHeaders, body: JSON.stringify(describe(facts), null, 2) };
}

function servedModels(): readonly ModelFacts[] {
  return listModels().filter(
    ({ provider, lifecycle }) => provider === "google" && lifecycle.status !== "retired",
  );
}

function describe({ id, windowTokens, outputTokensMax, capabilities, cache }: ModelFacts): object {
  const methods = ["generateContent", "countTokens"];
  return {
    name: `models/${id}`,
    version: /^gemini-([\d.]+)/.exec(id)?.[1] ?? "001",
    displayName: id,
    inputTokenLimit: windowTokens,
    ...(outputTokensMax === null ? {} : { outputTokenLimit: outputTokensMax }),
    supportedGenerationMethods:
      cache.stored === null ? methods : [...methods, "createCachedContent"],
    temperature: 1,
    topP: 0.95,
    topK: 64,
    ...(capabilities.thinking ? { thinking: true } : {}),
  };
}

/** Where a page begins and how long it is. A token that is not ours is refused. */
export function readPage(
  query: URLSearchParams,
  usual: number,
  most: number,
): { readonly pageSize: number; readonly start: number } {
  const size = Number(query.get("pageSize") ?? query.get("page_size") ?? usual);
  const token = query.get("pageToken") ?? query.get("page_token") ?? "";
  const start = token === "" ? 0 : Number(Buffer.from(token, "base64url").toString().slice(5));
  if (!Number.isSafeInteger(size) || size < 0)
    throw invalid("Request contains an invalid argument.");
  if (!Number.isSafeInteger(start) || start < 0) {
    throw invalid("The page token is invalid.");
  }
  return { pageSize: Math.min(size === 0 ? usual : size, most), start };
}

export function toPageToken(start: number): string {
  return Buffer.from(`page ${start}`).toString("base64url");
}
