// Forwards every request to its upstream, with an observer beside the traffic.
import { setImmediate } from "node:timers/promises";
import type { Environment } from "../core/config/environment.ts";
import { onlyPresent } from "../core/message/fields.ts";
import { StrataError } from "../core/strata-error.ts";
import { createAdmission, type Admission } from "./admission/admission.ts";
import type { GatewayKeys } from "./admission/gateway-key.ts";
import { answerRequests, type OwnAnswers } from "./answer-requests.ts";
import type { Directing, HealthAsked } from "./direct-request.ts";
import type { Observer } from "./exchange.ts";
import { openBook, type DoneExchange, type ExchangeCounts } from "./exchange-book.ts";
import { asksForWebSocket } from "./forward/relay-upgrade.ts";
import { watchExchanges, type WatchState } from "./forward/watch-exchanges.ts";
import { isLoopback } from "../api/access/check-headers.ts";
import {
  openListener,
  usualLimits,
  type ListenLimits,
  type TlsFiles,
} from "./listen/open-listener.ts";
import { openDispatcher } from "./upstreams/dispatcher.ts";
import type { UpstreamTable } from "./upstreams/upstream-table.ts";

export interface ForwarderOptions {
  readonly table: UpstreamTable;
  readonly observer: Observer;
  /** The process's variables, which may name proxies. */
  readonly env: Environment;
  /** Null for this machine. Any other address needs a token. */
  readonly host?: string | null;
  readonly port?: number;
  readonly token?: string | null;
  /** Whose requests come in, where clients need a key of the gateway; by default they bring their own. */
  readonly admission?: Admission;
  readonly tls?: TlsFiles | null;
  readonly limits?: Partial<ListenLimits>;
  /** A longer request is forwarded without being observed. */
  readonly bodyBytesMax?: number;
  /** How long a client waits for its body to be rewritten. */
  readonly rewriteMsMax?: number;
  readonly connectMsMax?: number;
  /** The limit from a request to the first byte of its answer. */
  readonly firstByteMsMax?: number;
  readonly websocket?: "relay" | "refuse";
  /** Whether the gateway may send requests of its own with a client's key; not by default. */
  readonly mayResend?: boolean;
  /** Called after each exchange, and for each request that was refused. */
  readonly onExchange?: (done: DoneExchange) => void;
  /** More members of the health route's answer, for who may know. */
  readonly moreHealth?: () => Readonly<Record<string, unknown>>;
  /** Answers requests of its own instead of forwarding them. */
  readonly own?: OwnAnswers | null;
  /** How long the observer is paused after five faults in a row. */
  readonly observerPauseMs?: number;
  /** For people. */
  readonly onProblem?: (problem: string) => void;
}

export interface Forwarder {
  readonly port: number;
  readonly urls: readonly string[];
  /** New requests use the new table and keys; open ones finish with their upstream. Without keys they stay. */
  use(table: UpstreamTable, keys?: GatewayKeys): void;
  /** A fault of the observer from a promise or a timer. */
  noteFault(error: unknown): void;
  state(): ForwarderState;
  /** What the health route says to the owner. */
  health(): Readonly<Record<string, unknown>>;
  /** Takes no new requests, waits for open ones up to the limit, then ends the rest. */
  close(drainMs: number): Promise<void>;
}

export interface ForwarderState {
  readonly startedMs: number;
  readonly upstreams: readonly string[];
  readonly exchanges: ExchangeCounts;
  readonly observer: WatchState;
}

export const usualForwarding: Required<
  Pick<ForwarderOptions, "bodyBytesMax" | "connectMsMax" | "firstByteMsMax">
> = {
  bodyBytesMax: 64 * 1024 * 1024,
  connectMsMax: 10_000,
  firstByteMsMax: 900_000,
};

export async function openForwarder(options: ForwarderOptions): Promise<Forwarder> {
  const { env, observer, token = null, websocket = "relay", host = null } = options;
  const { mayResend = false } = options;
  const { onProblem = () => {} } = options;
  const { bodyBytesMax, connectMsMax, firstByteMsMax } = { ...usualForwarding, ...options };
  const { admission = createAdmission({ keys: noKeys, bodyBytesMax }) } = options;
  checkDoor(host, token, admission.isNeeded());
  const dispatcher = openDispatcher({ env, connectMsMax });
  const watching = watchExchanges({
    observer,
    bodyBytesMax,
    onProblem,
    ...onlyPresent({ rewriteMsMax: options.rewriteMsMax, pauseMs: options.observerPauseMs }),
  });
  const book = openBook(options.onExchange ?? (() => {}), watching);
  const startedMs = Date.now();
  let { table } = options;

  const state = (): ForwarderState => ({
    startedMs,
    upstreams: table.upstreams.map(({ name }) => name),
    exchanges: book.counts(),
    observer: watching.state(),
  });
  const health = (asked: HealthAsked): Health =>
    healthTo(asked, { admission, state, moreHealth: options.moreHealth });
  const isLocal = host === null || isLoopback(host);
  const strangers = { token, isLocal, headersMax };
  const directing = (): Directing => ({ strangers, admission, table, websocket });
  const own = options.own ?? null;
  const answering = { directing, dispatcher, watching, book, health };
  const listener = await openListener({
    host,
    port: options.port ?? 0,
    tls: options.tls ?? null,
    limits: { ...usualLimits, ...options.limits },
    mayUpgrade: (incoming) => websocket === "relay" && asksForWebSocket(incoming),
    ...answerRequests({ ...answering, firstByteMsMax, own, mayResend }),
  });
  return {
    port: listener.port,
    urls: listener.urls,
    use: (next, keys) => {
      if (keys !== undefined) {
        checkDoor(host, token, keys.keys.length > 0);
        admission.use(keys);
      }
      table = next;
    },
    noteFault: (error) => watching.noteFault(error),
    state,
    health: () => health({ kind: "health", mayKnowMore: true, key: null }),
    close: async (drainMs) => {
      await listener.close(drainMs);
      // Sockets report their closing between two of these phases. Clients are closed before upstreams.
      await setImmediate();
      await setImmediate();
      await dispatcher.destroy();
    },
  };
}

type Health = Readonly<Record<string, unknown>>;

interface HealthParts {
  readonly admission: Admission;
  readonly state: () => ForwarderState;
  readonly moreHealth: ForwarderOptions["moreHealth"];
}

/** A stranger learns that the gateway runs, a key also what it has spent. */
function healthTo(
  { mayKnowMore, key }: HealthAsked,
  { admission, state, moreHealth }: HealthParts,
): Health {
  if (!mayKnowMore) return { status: "ok" };
  const itself = key === null ? {} : { key: admission.stateOf(key) };
  return { status: "ok", ...itself, ...state(), ...moreHealth?.() };
}

/** Requests with more are no client's. Each one costs time, and their bytes alone would allow as many as there are bytes. */
const headersMax = 4000;

const noKeys: GatewayKeys = { keys: [], upstreamKeys: new Map() };

function checkDoor(host: string | null, token: string | null, needsKey: boolean): void {
  if (host === null || isLoopback(host) || token !== null || needsKey) return;
  throw new StrataError(
    "config-invalid",
    `the gateway would listen at ${host}, where others reach it, and has no token`,
    "give gateway.keys, gateway.token_file or STRATA_GATEWAY_TOKEN, or listen on this machine only",
  );
}
