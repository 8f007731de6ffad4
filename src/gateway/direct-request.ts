// The first step of a request: whether it may come in, and to which upstream it goes.
import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { withoutKeys } from "./forward/describe-request.ts";
import type { Refusal } from "./forward/refuse.ts";
import { asksForWebSocket } from "./forward/relay-upgrade.ts";
import { findRefusal } from "./listen/admit.ts";
import { prefixesOf, type Target, type UpstreamTable } from "./upstreams/upstream-table.ts";

export interface BegunExchange {
  readonly id: string;
  readonly startMs: number;
  readonly method: string;
  /** As the client sent it, without keys. */
  readonly path: string;
}

export function beginExchange({ method = "GET", url = "" }: IncomingMessage): BegunExchange {
  return { id: randomUUID(), startMs: Date.now(), method, path: withoutKeys(url) };
}

export type Direction =
  | { readonly kind: "upstream"; readonly target: Target }
  /** The client asks for the gateway's own state. */
  | { readonly kind: "health" }
  | { readonly kind: "refused"; readonly refusal: Refusal };

export interface Directing {
  /** Null if no token is required. */
  readonly token: string | null;
  readonly table: UpstreamTable;
  readonly websocket: "relay" | "refuse";
}

export function directRequest(
  incoming: IncomingMessage,
  { token, table, websocket }: Directing,
): Direction {
  const { url = "", headers } = incoming;
  const stranger = findRefusal(headers, token);
  if (stranger !== null) return refused(stranger);
  if (isHealth(incoming)) return { kind: "health" };
  if (!url.startsWith("/")) return refused(noPath);
  if (isCoded(incoming)) return refused(codedTransfer);
  if (websocket === "refuse" && asksForWebSocket(incoming)) return refused(noWebSocket);
  const target = table.choose({ path: url, headers: flat(headers) });
  return target === undefined ? refused(noUpstream(table)) : { kind: "upstream", target };
}

/** Two servers could read the end of its body in two ways. */
export function isCoded({ headers }: IncomingMessage): boolean {
  const coding = headers["transfer-encoding"];
  return coding !== undefined && coding.toLowerCase() !== "chunked";
}

function refused(refusal: Refusal): Direction {
  return { kind: "refused", refusal };
}

function isHealth({ method, url = "" }: IncomingMessage): boolean {
  return (method === "GET" || method === "HEAD") && /^\/strata\/health(?:\?|$)/.test(url);
}

const noWebSocket: Refusal = {
  status: 426,
  code: "websocket_refused",
  message: "this gateway is configured to refuse WebSockets; use HTTP",
};

const noPath: Refusal = {
  status: 400,
  code: "bad_request",
  message: "send a path that begins with a slash",
};

const codedTransfer: Refusal = {
  status: 501,
  code: "transfer_coding",
  message: "this gateway takes chunked bodies, and no other transfer coding",
};

function noUpstream(table: UpstreamTable): Refusal {
  return {
    status: 404,
    code: "no_upstream",
    message: `nothing says where this request goes; begin its path with one of ${prefixesOf(table).join(", ")}`,
  };
}

function flat(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  // Node gives only set-cookie as a list, and no client sends that header.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- readers only look up names and compare texts
  return headers as Readonly<Record<string, string>>;
}
