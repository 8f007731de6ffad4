// The headers this API reads and writes: key, version, betas; ids and rate limits.
import { hash } from "node:crypto";
import type { SimRequest, SimResponse, Surface, SurfaceContext } from "../surface.ts";
import { invalid, Refusal, refusalResponse } from "./refusal.ts";

export const versions = ["2023-06-01", "2026-10-21"] as const;

export type ApiVersion = (typeof versions)[number];

export const authenticate: Surface["authenticate"] = (request, { newId }) => {
  const apiKey = request.headers.get("x-api-key")?.trim() ?? "";
  const bearer = /^Bearer\s+(\S+)\s*$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  const key = apiKey === "" ? bearer : apiKey;
  if (key !== undefined) return { key };
  const message = request.headers.has("authorization")
    ? "Invalid bearer token"
    : "x-api-key header is required";
  return { refusal: refusalResponse(new Refusal("authentication_error", message), newId("req_")) };
};

export function readVersion({ headers }: SimRequest): ApiVersion {
  const given = headers.get("anthropic-version");
  if (given === undefined) throw invalid("anthropic-version: header is required");
  const version = versions.find((each) => each === given);
  if (version === undefined) throw invalid(`anthropic-version: "${given}" is not a valid version`);
  return version;
}

export function readBetas({ headers }: SimRequest): ReadonlySet<string> {
  const names = (headers.get("anthropic-beta") ?? "").split(",").map((name) => name.trim());
  return new Set(names.filter((name) => name !== ""));
}

/** What every answer carries. The limits are constants: the simulator counts no rates. */
export function responseHeaders(
  requestId: string,
  { nowMs, workspace }: Pick<SurfaceContext, "nowMs" | "workspace">,
): Readonly<Record<string, string>> {
  const reset = new Date(nowMs).toISOString().replace(/\.\d+Z$/, "Z");
  const limits = Object.entries(limitOf).flatMap(([name, limit]) => [
    [`anthropic-ratelimit-${name}-limit`, String(limit)] as const,
    [`anthropic-ratelimit-${name}-remaining`, String(limit - 1)] as const,
    [`anthropic-ratelimit-${name}-reset`, reset] as const,
  ]);
  return {
    "request-id": requestId,
    "anthropic-organization-id": organizationId,
    "anthropic-workspace-id": `wrkspc_${hash("sha256", workspace, "hex").slice(0, 24)}`,
    ...Object.fromEntries(limits),
  };
}

/** Runs a route; what it refuses becomes the provider's error answer. */
export function answerOrRefuse(
  request: SimRequest,
  context: SurfaceContext,
  answer: (call: { readonly requestId: string; readonly version: ApiVersion }) => SimResponse,
): SimResponse {
  const requestId = context.newId("req_");
  const headers = responseHeaders(requestId, context);
  try {
    const response = answer({ requestId, version: readVersion(request) });
    return { ...response, headers: { ...headers, ...response.headers } };
  } catch (error) {
    if (error instanceof Refusal) return refusalResponse(error, requestId, headers);
    throw error;
  }
}

const organizationId = "00000000-0000-4000-8000-000000000000";

const limitOf = {
  requests: 4000,
  tokens: 10_400_000,
  "input-tokens": 10_000_000,
  "output-tokens": 400_000,
} as const;
