// Headers of every answer. Rate limits are shown, never enforced; only faults refuse requests.
import type { SurfaceContext } from "../surface.ts";

const requestsPerMinute = 10_000;
const tokensPerMinute = 30_000_000;

export function jsonHeaders(context: Pick<SurfaceContext, "newId">): Record<string, string> {
  return {
    "content-type": "application/json",
    "openai-version": "2020-10-01",
    "x-request-id": context.newId("req_"),
  };
}

export function streamHeaders(context: Pick<SurfaceContext, "newId">): Record<string, string> {
  return {
    ...jsonHeaders(context),
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
  };
}

/** Cached tokens count toward the limit too. */
export function limitHeaders(usedTokens: number, usedRequests = 1): Record<string, string> {
  const tokens = Math.min(usedTokens, tokensPerMinute);
  return {
    "x-ratelimit-limit-requests": String(requestsPerMinute),
    "x-ratelimit-limit-tokens": String(tokensPerMinute),
    "x-ratelimit-remaining-requests": String(requestsPerMinute - usedRequests),
    "x-ratelimit-remaining-tokens": String(tokensPerMinute - tokens),
    "x-ratelimit-reset-requests": `${Math.ceil((usedRequests * 60_000) / requestsPerMinute)}ms`,
    "x-ratelimit-reset-tokens": `${Math.ceil((tokens * 60_000) / tokensPerMinute)}ms`,
  };
}

export function exhaustedHeaders(retryAfterSeconds: number | null): Record<string, string> {
  const headers = limitHeaders(tokensPerMinute, requestsPerMinute);
  if (retryAfterSeconds === null) return headers;
  const seconds = String(retryAfterSeconds);
  return {
    ...headers,
    "retry-after": seconds,
    "retry-after-ms": String(Math.round(retryAfterSeconds * 1000)),
    "x-ratelimit-reset-requests": `${seconds}s`,
    "x-ratelimit-reset-tokens": `${seconds}s`,
  };
}
