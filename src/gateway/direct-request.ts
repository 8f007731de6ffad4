// The first step of a request: whether it may come in, and to which upstream it goes.
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { protocols } from "../core/wire/protocols.ts";
import type { Admission, Pass } from "./admission/admission.ts";
import { keyRequired, type Denial } from "./admission/deny.ts";
import type { GatewayKey } from "./admission/gateway-key.ts";
import { withoutKeys } from "./forward/describe-request.ts";
import { flatHeaders } from "./forward/pass-headers.ts";
import { refusalAs, type Refusal } from "./forward/refuse.ts";
import { asksForWebSocket } from "./forward/relay-upgrade.ts";
import { findRefusal, type StrangerRules } from "./listen/admit.ts";
import {
  prefixesOf,
  type Asked,
  type Target,
  type UpstreamTable,
} from "./upstreams/upstream-table.ts";

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
  | ToUpstream
  | HealthAsked
  | { readonly kind: "refused"; readonly refusal: Refusal };

export interface ToUpstream {
  readonly kind: "upstream";
  readonly target: Target;
  /** Null where no key of the gateway is needed. */
  readonly pass: Pass | null;
}

/** A client asks for the gateway's own state. */
export interface HealthAsked {
  readonly kind: "health";
  /** Whether it may know more than that the gateway is there. */
  readonly mayKnowMore: boolean;
  /** The client's own. */
  readonly key: GatewayKey | null;
}

export interface Directing {
  readonly strangers: StrangerRules;
  readonly admission: Admission;
  readonly table: UpstreamTable;
  readonly websocket: "relay" | "refuse";
}

export function directRequest(
  incoming: IncomingMessage,
  { id }: Pick<BegunExchange, "id">,
  { strangers, admission, table, websocket }: Directing,
): Direction {
  const { url = "", headers } = incoming;
  const stranger = findRefusal(incoming, strangers);
  if (stranger !== null) return refused(stranger);
  const key = admission.isNeeded() ? admission.find(incoming) : null;
  const mayPass = key !== null || !admission.isNeeded();
  if (isHealth(incoming)) {
    return { kind: "health", mayKnowMore: mayPass || strangers.token !== null, key };
  }
  if (!url.startsWith("/")) return refused(noPath);
  if (isCoded(incoming)) return refused(codedTransfer);
  const target = chooseTarget(table, { path: url, headers: flatHeaders(headers) }, key !== null);
  if (!mayPass) return refused(deniedAs(keyRequired, incoming, target));
  const isWebSocket = asksForWebSocket(incoming);
  if (websocket === "refuse" && isWebSocket) return refused(noWebSocket);
  if (target === undefined) return refused(noUpstream(table));
  if (key === null) return { kind: "upstream", target, pass: null };
  const pass = admission.admit(id, key, { incoming, target, isWebSocket });
  if ("code" in pass) return refused(deniedAs(pass, incoming, target));
  return { kind: "upstream", target: pass.target, pass };
}

/** A key of ours is none of the upstream's, which may have to sign in its place; but it may be all that shows whose API is meant. */
function chooseTarget(table: UpstreamTable, asked: Asked, isOurKey: boolean): Target | undefined {
  if (!isOurKey) return table.choose(asked);
  const { authorization: _ours, ...headers } = asked.headers;
  return table.choose({ ...asked, headers }) ?? table.choose(asked);
}

/** In the words of the protocol that the request speaks. */
export function deniedAs(
  denial: Denial,
  { headers }: IncomingMessage,
  target: Target | undefined,
): Refusal {
  const address = { path: target?.path ?? null, headers: flatHeaders(headers) };
  const spoken = protocols.find(({ foreign }) => foreign.isSentTo(address));
  return refusalAs(target?.spoken ?? spoken ?? null, denial.code, denial);
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
