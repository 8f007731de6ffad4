// The gateway: a listener, a table of upstreams, and an observer beside the traffic.
import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import packageJson from "../../package.json" with { type: "json" };
import type { Environment } from "../core/config/environment.ts";
import { StrataError } from "../core/strata-error.ts";
import type { ExchangeStart, Observer } from "./exchange.ts";
import { describeHeaders, withoutKeys } from "./forward/describe-request.ts";
import { forwardExchange, type ForwardedEnd } from "./forward/forward-exchange.ts";
import { refuse, type Refusal } from "./forward/refuse.ts";
import { asksForWebSocket, refuseUpgrade, relayUpgrade } from "./forward/relay-upgrade.ts";
import { watchExchanges, type WatchState } from "./forward/watch-exchanges.ts";
import { findRefusal, isLoopback } from "./listen/admit.ts";
import {
  openListener,
  usualLimits,
  type ListenLimits,
  type TlsFiles,
} from "./listen/open-listener.ts";
import { openDispatcher } from "./upstreams/dispatcher.ts";
import { prefixesOf, type Target, type UpstreamTable } from "./upstreams/upstream-table.ts";

export interface GatewayOptions {
  readonly table: UpstreamTable;
  readonly observer: Observer;
  /** The variables of the process: proxies. */
  readonly env: Environment;
  /** Null for this machine. Any other address needs a token. */
  readonly host?: string | null;
  readonly port?: number;
  readonly token?: string | null;
  readonly tls?: TlsFiles | null;
  readonly limits?: Partial<ListenLimits>;
  /** A longer request is forwarded without being observed. */
  readonly bodyBytesMax?: number;
  readonly connectMsMax?: number;
  /** From the request to the first byte of its answer. */
  readonly firstByteMsMax?: number;
  readonly websocket?: "relay" | "refuse";
  /** Called after each exchange, and for each request that was refused. */
  readonly onExchange?: (done: DoneExchange) => void;
  /** For people. */
  readonly onProblem?: (problem: string) => void;
}

export interface DoneExchange extends Omit<ForwardedEnd, "how"> {
  readonly id: string;
  readonly startMs: number;
  readonly method: string;
  /** As the client asked, without keys. */
  readonly path: string;
  /** Empty if none was found. */
  readonly upstream: string;
  readonly how: ForwardedEnd["how"] | "refused";
}

export interface Gateway {
  readonly port: number;
  readonly urls: readonly string[];
  /** New requests go by the new table; open ones end where they are. */
  use(table: UpstreamTable): void;
  /** A fault of the observer that came out of a promise or a timer. */
  noteFault(error: unknown): void;
  health(): GatewayHealth;
  /** Takes no new requests, waits for open ones up to the limit, then ends them. */
  close(drainMs: number): Promise<void>;
}

export interface GatewayHealth {
  readonly startedMs: number;
  readonly upstreams: readonly string[];
  readonly exchanges: ExchangeCounts;
  readonly observer: WatchState;
}

export type ExchangeCounts = Readonly<
  Record<"open" | "complete" | "clientLeft" | "cut" | "noAnswer" | "refused", number>
>;

const usual = {
  bodyBytesMax: 64 * 1024 * 1024,
  connectMsMax: 10_000,
  firstByteMsMax: 900_000,
};

export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { env, observer, token = null, websocket = "relay", host = null } = options;
  const { onExchange = () => {}, onProblem = () => {} } = options;
  const { bodyBytesMax, connectMsMax, firstByteMsMax } = { ...usual, ...options };
  checkToken(host, token);
  const counts = { open: 0, complete: 0, clientLeft: 0, cut: 0, noAnswer: 0, refused: 0 };
  const dispatcher = openDispatcher({ env, connectMsMax });
  const watching = watchExchanges({ observer, bodyBytesMax, onProblem });
  const startedMs = Date.now();
  let { table } = options;

  const health = (): GatewayHealth => ({
    startedMs,
    upstreams: table.upstreams.map(({ name }) => name),
    exchanges: { ...counts },
    observer: watching.state(),
  });
  /** The way of a request; null if it was answered here. */
  const direct = (incoming: IncomingMessage, answer: (refusal: Refusal) => void): Way | null => {
    const began = beginOf(incoming);
    const found = findRefusal(incoming.headers, token) ?? findWay(incoming, table);
    if ("origin" in found) return { ...began, target: found };
    counts.refused += 1;
    answer(found);
    const nothing = { responseBytes: 0, firstByteMs: null, endMs: Date.now() };
    onExchange({ ...began, ...nothing, upstream: "", how: "refused", status: found.status });
    return null;
  };
  const track = ({ target, ...began }: Way): ((end: ForwardedEnd) => void) => {
    counts.open += 1;
    return (end) => {
      counts.open -= 1;
      counts[counterOf[end.how]] += 1;
      onExchange({ ...began, ...end, upstream: target.upstream });
    };
  };
  const mayUpgrade = (incoming: IncomingMessage): boolean =>
    websocket === "relay" && asksForWebSocket(incoming);

  const listener = await openListener({
    host,
    port: options.port ?? 0,
    tls: options.tls ?? null,
    limits: { ...usualLimits, ...options.limits },
    mayUpgrade,
    onRequest: (incoming, outgoing) => {
      if (isHealth(incoming) && findRefusal(incoming.headers, token) === null) {
        return answerHealth(outgoing, health());
      }
      const way = direct(incoming, (refusal) => refuse(outgoing, refusal));
      if (way === null) return;
      if (asksForWebSocket(incoming)) return refuse(outgoing, noWebSocket);
      if (incoming.headers.expect !== undefined) outgoing.writeContinue();
      const { target } = way;
      const watch = watching.begin(() => toStart(way, incoming));
      const onEnd = track(way);
      forwardExchange(incoming, outgoing, { dispatcher, target, watch, firstByteMsMax, onEnd });
    },
    onUpgrade: (incoming, socket, head) => {
      const way = direct(incoming, (refusal) => refuseUpgrade(incoming, socket, refusal));
      if (way === null) return;
      const { target } = way;
      const onEnd = track(way);
      relayUpgrade(incoming, socket, { head, dispatcher, target, firstByteMsMax, onEnd });
    },
  });
  return {
    port: listener.port,
    urls: listener.urls,
    use: (next) => {
      table = next;
    },
    noteFault: (error) => watching.noteFault(error),
    health,
    close: async (drainMs) => {
      await listener.close(drainMs);
      // Sockets say that they are closed in the phase between two of these. Clients come before upstreams.
      await setImmediate();
      await setImmediate();
      await dispatcher.destroy();
    },
  };
}

interface Way extends Pick<DoneExchange, "id" | "startMs" | "method" | "path"> {
  readonly target: Target;
}

const counterOf = {
  complete: "complete",
  "client left": "clientLeft",
  cut: "cut",
  "no answer": "noAnswer",
} as const satisfies Record<ForwardedEnd["how"], keyof ExchangeCounts>;

function checkToken(host: string | null, token: string | null): void {
  if (host === null || isLoopback(host) || token !== null) return;
  throw new StrataError(
    "config-invalid",
    `the gateway would listen at ${host}, where others reach it, and has no token`,
    "give gateway.token_file or STRATA_GATEWAY_TOKEN, or listen on this machine only",
  );
}

function beginOf({ method = "GET", url = "" }: IncomingMessage): Omit<Way, "target"> {
  return { id: randomUUID(), startMs: Date.now(), method, path: withoutKeys(url) };
}

function findWay(incoming: IncomingMessage, table: UpstreamTable): Target | Refusal {
  const { url = "", headers } = incoming;
  const coding = headers["transfer-encoding"];
  if (!url.startsWith("/")) return badRequest("send a path that begins with a slash");
  if (coding !== undefined && coding.toLowerCase() !== "chunked") return codedTransfer;
  return table.choose({ path: url, headers: flat(headers) }) ?? noUpstream(table);
}

function badRequest(message: string): Refusal {
  return { status: 400, code: "bad_request", message };
}

const codedTransfer: Refusal = {
  status: 501,
  code: "transfer_coding",
  message: "this gateway takes chunked bodies, and no other transfer coding",
};

const noWebSocket: Refusal = {
  status: 426,
  code: "websocket_refused",
  message: "this gateway is configured to refuse WebSockets; use HTTP",
};

function noUpstream(table: UpstreamTable): Refusal {
  return {
    status: 404,
    code: "no_upstream",
    message: `nothing says where this request goes; begin its path with one of ${prefixesOf(table).join(", ")}`,
  };
}

function flat(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  // Only set-cookie is a list, and no client sends it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- readers look names up, and compare texts
  return headers as Readonly<Record<string, string>>;
}

function toStart({ target, ...began }: Way, { headers }: IncomingMessage): ExchangeStart {
  return {
    ...began,
    path: withoutKeys(target.path),
    upstream: target.upstream,
    ...describeHeaders(headers, target.path, target.headers),
    ...(target.spoken === null ? {} : { protocol: target.spoken.name }),
  };
}

function isHealth({ method, url = "" }: IncomingMessage): boolean {
  return (method === "GET" || method === "HEAD") && /^\/strata\/health(?:\?|$)/.test(url);
}

function answerHealth(outgoing: ServerResponse, health: GatewayHealth): void {
  const body = JSON.stringify({ version: packageJson.version, ...health });
  outgoing.writeHead(200, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
  });
  outgoing.end(body);
}
