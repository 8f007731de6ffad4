// A surface speaks one provider's API: it reads requests, bills them and writes replies in that provider's words.
import type { Bill } from "./billing/bill.ts";
import type { Billing, OpenBill } from "./billing/billing.ts";
import type { PromptCounter } from "./count-tokens.ts";
import type { Prompt, Reply } from "./prompt.ts";

/** One HTTP request, read to its end. */
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
  /** All at once, or event by event; each string of a stream is one whole event. */
  readonly body: string | Iterable<string>;
  /** Begun when the first byte goes out, ended with the last, abandoned when there is none. */
  readonly bill?: OpenBill;
}

/** What a surface gets besides the request. Times and ids come from here, so a run can be repeated. */
export interface SurfaceContext {
  readonly nowMs: number;
  /** A hash of the client's key. */
  readonly workspace: string;
  readonly newId: (prefix: string) => string;
  readonly billing: Billing;
  readonly counter: PromptCounter;
  /** What the simulated model answers. */
  readonly answer: (prompt: Prompt) => Reply;
  /** Puts a billed request on the simulator's own record. */
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
  /** Dollars in full, as text; null where the model has no price. */
  readonly costUsd: string | null;
  readonly stopReason: string;
}

/** A failure the user of the simulator asked for, spelled by the surface as its provider would. */
export type HttpFault =
  | { readonly kind: "rate limited"; readonly retryAfterSeconds: number | null }
  | { readonly kind: "server error" }
  | { readonly kind: "overloaded" }
  | { readonly kind: "overflow"; readonly tokens: number; readonly tokensMax: number };

/** Where a fault strikes: a provider may word it differently on each of its routes. */
export interface FaultPlace extends Pick<SurfaceContext, "newId" | "nowMs" | "workspace"> {
  readonly path: string;
}

export interface Surface {
  readonly name: string;
  readonly routes: readonly Route[];
  readonly fault: (fault: HttpFault, place: FaultPlace) => SimResponse;
  /** Reads the client's key, or says in the provider's words that there is none. */
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
