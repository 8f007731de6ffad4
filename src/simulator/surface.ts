// A surface implements one provider's API: it reads requests, bills them and writes replies and errors.
import type { Bill, Billing, OpenBill } from "./billing/bill.ts";
import type { PromptCounter } from "./count-tokens.ts";
import type { Prompt, Reply } from "./prompt.ts";

export interface SimRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly bodyText: string;
}

export interface SimResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body, or a stream whose strings are one event each. */
  readonly body: string | Iterable<string>;
  /** Begun with the first byte, ended with the last, abandoned if no byte is sent. */
  readonly bill?: OpenBill;
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
}

/** An injected failure. The surface words it like its provider. */
export type HttpFault =
  | { readonly kind: "rate limited"; readonly retryAfterSeconds: number | null }
  | { readonly kind: "server error" }
  | { readonly kind: "overloaded" }
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
  /** Whether a client of this provider sent these headers. Providers can share a path, such as `/v1/models`. */
  readonly isClient: (headers: SimRequest["headers"]) => boolean;
  readonly refuse: (refusal: OuterRefusal, context: Pick<SurfaceContext, "newId">) => SimResponse;
  readonly fault: (fault: HttpFault, place: FaultPlace) => SimResponse;
  /** Returns the client's key, or the provider's error if it is missing. */
  readonly authenticate: (
    request: SimRequest,
    context: Pick<SurfaceContext, "newId" | "nowMs">,
  ) => { readonly key: string } | { readonly refusal: SimResponse };
}

export interface Route {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly handle: (request: SimRequest, context: SurfaceContext) => SimResponse;
}

/** For errors that a retry by the client would only hide. */
export const noRetry: Readonly<Record<string, string>> = { "x-should-retry": "false" };
