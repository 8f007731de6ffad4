// A surface implements one provider's API: it reads requests, bills them and writes replies and errors.
import type { Bill, Billing, OpenBill } from "./billing/bill.ts";
import type { PromptCounter } from "./count-tokens.ts";
import type { Prompt, Reply } from "./prompt.ts";

export interface SimRequest {
  readonly method: string;
  /** Without the query, percent-encoded as it came. */
  readonly path: string;
  /** What the named groups of the route's path matched, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly bodyText: string;
}

export interface SimResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body, or a stream whose pieces are one event each. */
  readonly body: string | Iterable<string | Uint8Array>;
  /** Begun with the first byte, ended with the last, abandoned if no byte is sent. */
  readonly bill?: OpenBill;
  /** How long the first byte takes, besides the latency of every reply. */
  readonly firstByteMs?: number;
}

/** What a surface gets besides the request. Times and ids come from here, so a run can be reproduced. */
export interface SurfaceContext {
  readonly nowMs: number;
  /** A hash of the client's key. */
  readonly workspace: string;
  readonly newId: (prefix: string) => string;
  readonly billing: Billing;
  readonly counter: PromptCounter;
  readonly answer: (prompt: Prompt) => Reply;
  readonly record: (entry: CallRecord) => void;
  /** The next fault that was queued for this host of a router; null for none. */
  readonly faultAt: (host: string) => HttpFault | null;
}

/** One billed request, as GET /_sim/ledger shows it. */
export interface CallRecord {
  readonly surface: string;
  readonly model: string;
  readonly startMs: number;
  readonly bill: Bill;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  /** Exact dollars as text; null if the model has no price. */
  readonly costUsd: string | null;
  readonly stopReason: string;
  /** Who answered, where a router has several hosts. */
  readonly host?: string;
}

/** An injected failure. The surface words it like its provider. */
export type HttpFault =
  | { readonly kind: "rate limited"; readonly retryAfterSeconds: number | null }
  | { readonly kind: "server error" }
  | { readonly kind: "overloaded" }
  /** The model did not answer in time, or failed behind the API. */
  | { readonly kind: "model timeout" }
  | { readonly kind: "model error" }
  | { readonly kind: "overflow"; readonly tokens: number; readonly tokensMax: number };

/** Where a fault hits: a provider can word it differently per route. */
export interface FaultPlace extends Pick<SurfaceContext, "newId" | "nowMs" | "workspace"> {
  readonly path: string;
}

/** An error outside of any route: none matched, the body was too large, or the simulated model failed. */
export interface OuterRefusal {
  readonly status: 404 | 413 | 500;
  readonly message: string;
}

export interface Surface {
  readonly name: string;
  readonly routes: readonly Route[];
  /** Whether a client of this provider sent these headers, or to such a path. Providers can share a path, such as `/v1/models`. */
  readonly isClient: (headers: SimRequest["headers"], path: string) => boolean;
  readonly refuse: (refusal: OuterRefusal, context: Pick<SurfaceContext, "newId">) => SimResponse;
  readonly fault: (fault: HttpFault, place: FaultPlace) => SimResponse;
  /** An error within a stream, as one event. Null on a path whose streams have none. */
  readonly errorEvent?: (place: FaultPlace) => string | Uint8Array | null;
  /** Returns the client's key, or the provider's error if it is missing. */
  readonly authenticate: (
    request: SimRequest,
    context: Pick<SurfaceContext, "newId" | "nowMs">,
  ) => { readonly key: string } | { readonly refusal: SimResponse };
}

export interface Route {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** A pattern must match the whole path; its named groups arrive as `params`. */
  readonly path: string | RegExp;
  readonly handle: (request: SimRequest, context: SurfaceContext) => SimResponse;
}

export interface RouteMatch extends Pick<SimRequest, "params"> {
  readonly route: Route;
}

export function matchRoute(
  routes: readonly Route[],
  method: string,
  path: string,
): RouteMatch | null {
  for (const route of routes) {
    const params = route.method === method ? matchPath(route.path, path) : null;
    if (params !== null) return { route, params };
  }
  return null;
}

/** Null if the path is another one, or if its percent-encoding is broken. */
function matchPath(pattern: Route["path"], path: string): SimRequest["params"] | null {
  if (typeof pattern === "string") return pattern === path ? {} : null;
  const match = pattern.exec(path);
  if (match === null || match[0] !== path) return null;
  try {
    const groups = Object.entries(match.groups ?? {});
    return Object.fromEntries(groups.map(([name, text]) => [name, decodeURIComponent(text ?? "")]));
  } catch {
    return null;
  }
}

/** For errors that a retry by the client would only hide. */
export const noRetry: Readonly<Record<string, string>> = { "x-should-retry": "false" };
