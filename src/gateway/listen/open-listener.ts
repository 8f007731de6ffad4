// HTTP servers at the addresses of the gateway: by default this machine's, over IPv4 and IPv6 at the same port.
import { once } from "node:events";
import * as http from "node:http";
import * as https from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { messageOf, StrataError } from "../../core/strata-error.ts";

export interface ListenerOptions {
  /** Null for 127.0.0.1 and ::1. */
  readonly host: string | null;
  /** 0 for any free one. */
  readonly port: number;
  readonly tls: TlsFiles | null;
  readonly limits: ListenLimits;
  /** Whether to grant a request's upgrade; others are handled as plain requests. */
  readonly mayUpgrade: (incoming: http.IncomingMessage) => boolean;
  readonly onRequest: (incoming: http.IncomingMessage, outgoing: http.ServerResponse) => void;
  readonly onUpgrade: (incoming: http.IncomingMessage, socket: Duplex, head: Buffer) => void;
}

export interface ListenLimits {
  readonly connectionsMax: number;
  readonly headerBytesMax: number;
  /** The limit from a request's first byte to the end of its headers. */
  readonly headMs: number;
  /** Between two arrivals of a body's bytes. */
  readonly bodyIdleMs: number;
  /** The limit from a request's first byte to its last. */
  readonly bodyMs: number;
  /** How long a connection without a request stays open. */
  readonly keepAliveMs: number;
}

/** Longer than the pools of clients keep their connections: a client must be the first to close. */
export const usualLimits: ListenLimits = {
  connectionsMax: 10_000,
  headerBytesMax: 65_536,
  headMs: 30_000,
  bodyIdleMs: 300_000,
  bodyMs: 3_600_000,
  keepAliveMs: 75_000,
};

/** In PEM. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export interface Listener {
  readonly port: number;
  /** The first is the one to show. */
  readonly urls: readonly string[];
  /** Takes no more connections, waits for open exchanges up to the limit, then ends those that are left. A second call with a shorter limit ends them earlier. */
  close(drainMs: number): Promise<void>;
}

export async function openListener(options: ListenerOptions): Promise<Listener> {
  const sockets = new Set<Duplex>();
  const make = (): http.Server => createServer(options, sockets);
  const servers = await bind(options, make);
  const [first] = servers;
  const port = first === undefined ? 0 : portOf(first);
  const timers: NodeJS.Timeout[] = [];
  let closing: Promise<void> | null = null;
  const cut = (): void => {
    for (const server of servers) server.closeAllConnections();
    for (const socket of sockets) socket.destroy();
  };
  const closeAll = async (): Promise<void> => {
    const closed = servers.map((server) => once(server, "close"));
    for (const server of servers) server.close();
    await Promise.all(closed);
    for (const timer of timers) clearTimeout(timer);
  };
  const scheme = options.tls === null ? "http" : "https";
  return {
    port,
    urls: servers.map((server) => `${scheme}://${hostOf(server)}:${port}`),
    close: (drainMs) => {
      timers.push(setTimeout(cut, drainMs));
      closing ??= closeAll();
      return closing;
    },
  };
}

async function bind(
  { host, port }: ListenerOptions,
  make: () => http.Server,
): Promise<readonly http.Server[]> {
  if (host !== null) return [await listen(make(), port, bare(host))];
  // A port may be free on one of the two addresses and taken on the other.
  for (let tries = port === 0 ? 10 : 1; ; tries -= 1) {
    const first = await listen(make(), port, "127.0.0.1");
    try {
      return [first, await listen(make(), portOf(first), "::1")];
    } catch (error) {
      if (!isTaken(error)) return [first];
      first.close();
      if (tries <= 1) throw error;
    }
  }
}

function isTaken(error: unknown): boolean {
  const { cause } = error instanceof Error ? error : {};
  return cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE";
}

async function listen(server: http.Server, port: number, host: string): Promise<http.Server> {
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    throw new StrataError(
      "environment-unfit",
      `cannot listen on ${host}:${port}: ${messageOf(error)}`,
      "choose another port, or 0 for any free one",
      { cause: error },
    );
  }
  return server;
}

function createServer(options: ListenerOptions, sockets: Set<Duplex>): http.Server {
  const { limits, tls, mayUpgrade, onRequest, onUpgrade } = options;
  const settings: http.ServerOptions = {
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headMs,
    // A long upload is no attack, unless it takes an hour. One that stands still is ended below.
    requestTimeout: Math.max(limits.bodyMs, limits.headMs),
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: Math.min(limits.headMs, 5000),
    insecureHTTPParser: false,
    shouldUpgradeCallback: mayUpgrade,
  };
  const server =
    tls === null
      ? http.createServer(settings)
      : https.createServer({
          ...settings,
          cert: tls.cert,
          key: tls.key,
          // A connection that never says what it wants counts from its beginning.
          handshakeTimeout: limits.headMs,
        });
  server.maxConnections = limits.connectionsMax;
  // Node would silently drop headers above its count. Their size is limited already.
  server.maxHeadersCount = 0;
  server.on("request", (incoming, outgoing) => {
    limitIdleBody(incoming, limits.bodyIdleMs);
    // After `close`, a kept connection must not bring more.
    if (!server.listening) outgoing.shouldKeepAlive = false;
    onRequest(incoming, outgoing);
  });
  // Without this, Node would ask the client for the body of a request that we may refuse.
  server.on("checkContinue", (incoming, outgoing) => server.emit("request", incoming, outgoing));
  server.on("upgrade", (incoming, socket, head) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    onUpgrade(incoming, socket, head);
  });
  return server;
}

/** After a refusal the rest of a body is read and dropped, so that its client reads the answer; but not for ever. */
export function endUnreadBody(incoming: http.IncomingMessage): void {
  if (incoming.complete) return;
  const { socket } = incoming;
  const timer = setTimeout(() => socket.destroy(), unreadBodyMs).unref();
  incoming.once("close", () => clearTimeout(timer)).resume();
}

/** Enough for what a client has on its way. */
const unreadBodyMs = 5000;

function limitIdleBody(incoming: http.IncomingMessage, idleMs: number): void {
  const { socket } = incoming;
  socket.setTimeout(idleMs);
  incoming.once("end", () => socket.setTimeout(0));
}

function portOf(server: http.Server): number {
  const address: AddressInfo | string | null = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

function hostOf(server: http.Server): string {
  const address: AddressInfo | string | null = server.address();
  if (typeof address !== "object" || address === null) return "127.0.0.1";
  return address.family === "IPv6" ? `[${address.address}]` : address.address;
}

function bare(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}
