// Headers of this API: key, version and betas in; ids and rate limits out.
import type { HttpFault, SimRequest, SimResponse, Surface, SurfaceContext } from "../surface.ts";
import { invalid, Refusal, refusalOf, refusalResponse } from "./refusal.ts";

export const versions = ["2023-06-01", "2026-10-21"] as const;

export type ApiVersion = (typeof versions)[number];

export interface ApiCall {
  readonly requestId: string;
  readonly version: ApiVersion;
}

/** Without a key there is no workspace; without a time, no reset of limits. */
type Place = Pick<SurfaceContext, "newId"> & Partial<Pick<SurfaceContext, "nowMs" | "workspace">>;

export function authenticate(
  request: SimRequest,
  place: Place,
): ReturnType<Surface["authenticate"]> {
  const apiKey = request.headers.get("x-api-key")?.trim() ?? "";
  const bearer = /^Bearer\s+(\S+)\s*$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  const key = apiKey === "" ? bearer : apiKey;
  if (key !== undefined) return { key };
  const message = request.headers.has("authorization")
    ? "Invalid bearer token"
    : "x-api-key header is required";
  const requestId = place.newId("req_");
  const refusal = new Refusal("authentication_error", message);
  return { refusal: refusalResponse(refusal, requestId, responseHeaders(requestId, place)) };
}

/** The response of an injected fault. A rate limit shows nothing remaining. */
export function faultResponse(fault: HttpFault, place: Place): SimResponse {
  const requestId = place.newId("req_");
  const seconds = fault.kind === "rate limited" ? fault.retryAfterSeconds : null;
  return refusalResponse(refusalOf(fault), requestId, {
    ...responseHeaders(requestId, place, {
      isExhausted: fault.kind === "rate limited",
      resetMs: (seconds ?? 0) * 1000,
    }),
    ...(seconds === null ? {} : { "retry-after": String(seconds) }),
  });
}

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

/** Headers of every answer. The rate limits are constants; the simulator does not count. */
export function responseHeaders(
  requestId: string,
  { nowMs, workspace }: Partial<Pick<SurfaceContext, "nowMs" | "workspace">>,
  rate: { readonly isExhausted: boolean; readonly resetMs: number } = unlimited,
): Readonly<Record<string, string>> {
  const limits = Object.entries(limitOf).flatMap(([name, limit]) => [
    [`anthropic-ratelimit-${name}-limit`, String(limit)] as const,
    [`anthropic-ratelimit-${name}-remaining`, String(rate.isExhausted ? 0 : limit - 1)] as const,
    ...(nowMs === undefined
      ? []
      : [[`anthropic-ratelimit-${name}-reset`, timeText(nowMs + rate.resetMs)] as const]),
  ]);
  return {
    "request-id": requestId,
    "anthropic-organization-id": organizationId,
    ...(workspace === undefined ? {} : { "anthropic-workspace-id": workspace }),
    ...Object.fromEntries(limits),
  };
}

const unlimited = { isExhausted: false, resetMs: 0 };

/** The largest valid Date. */
const latestMs = 8_640_000_000_000_000;

function timeText(ms: number): string {
  return new Date(Math.min(ms, latestMs)).toISOString().replace(/\.\d+Z$/, "Z");
}

/** Runs a route and turns a Refusal into the provider's error response. */
export function answerOrRefuse(
  request: SimRequest,
  context: SurfaceContext,
  answer: (call: ApiCall) => SimResponse,
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
