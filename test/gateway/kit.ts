// A gateway before a server of the test's own, on loopback, and requests whose bytes the test writes itself.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import * as net from "node:net";
import { onTestFinished } from "vitest";
import type { UpstreamConfig } from "../../src/core/config/schema/gateway.ts";
import type { Observer } from "../../src/gateway/exchange.ts";
import type { DoneExchange } from "../../src/gateway/exchange-book.ts";
import {
  openForwarder,
  type Forwarder,
  type ForwarderOptions,
} from "../../src/gateway/open-forwarder.ts";
import { toUpstreamTable } from "../../src/gateway/upstreams/configured.ts";

export const noObserver: Observer = { begin: () => null };

export interface TestGateway extends Forwarder {
  /** `http://127.0.0.1:PORT/up`, before the test's server. */
  readonly up: string;
  /** What it says of each exchange, in order. */
  readonly done: readonly DoneExchange[];
  readonly problems: readonly string[];
}

/** `upstream`: the address behind `/up`. */
export async function openTestGateway(
  upstream: string | Pick<UpstreamConfig, "baseUrl" | "headers">,
  options: Partial<ForwarderOptions> = {},
): Promise<TestGateway> {
  const [done, problems]: [DoneExchange[], string[]] = [[], []];
  const config =
    typeof upstream === "string" ? { baseUrl: upstream, headers: new Map() } : upstream;
  const gateway = await openForwarder({
    table: toUpstreamTable(new Map([["up", { ...config, protocol: null }]])),
    observer: noObserver,
    env: {},
    onExchange: (each) => done.push(each),
    onProblem: (problem) => problems.push(problem),
    ...options,
  });
  onTestFinished(() => gateway.close(0));
  return { ...gateway, up: `${gateway.urls[0]}/up`, done, problems };
}

type Answer = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown;

/** An HTTP server in the upstream's place; returns its address. */
export async function openUpstream(answer: Answer): Promise<string> {
  const server = createServer(
    { keepAliveTimeout: 60_000, maxHeaderSize: 65_536 },
    (incoming, outgoing) => void answer(incoming, outgoing),
  );
  server.maxHeadersCount = 0;
  server.on("clientError", (_error, socket) => socket.destroy());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  });
  return `http://127.0.0.1:${portOf(server)}`;
}

/** A server that sees and says bare bytes. */
export async function openRawUpstream(onSocket: (socket: net.Socket) => void): Promise<string> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    onSocket(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return `http://127.0.0.1:${portOf(server)}`;
}

export function portOf(server: net.Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

export interface RawClient {
  readonly socket: net.Socket;
  /** What came so far, byte for byte. */
  readonly text: () => string;
  /** Resolves when this was received. */
  until(part: string): Promise<string>;
  /** Resolves with everything when the other side ended the connection. */
  untilClosed(): Promise<string>;
}

export function connectRaw(port: number, start = ""): RawClient {
  const socket = net.connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let seen = "";
  let isClosed = false;
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const each of waiting) each();
  };
  socket.setEncoding("latin1");
  socket.on("data", (data) => {
    seen += String(data);
    wake();
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    isClosed = true;
    wake();
  });
  if (start !== "") socket.write(start, "latin1");
  const when = (isThere: () => boolean): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!isThere() && !isClosed) return;
        waiting.delete(look);
        if (isThere()) resolve(seen);
        else reject(new Error(`closed after ${JSON.stringify(seen)}`));
      };
      waiting.add(look);
      look();
    });
  return {
    socket,
    text: () => seen,
    until: (part) => when(() => seen.includes(part)),
    untilClosed: () => when(() => isClosed),
  };
}

export function sha256(bytes: string | Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Everything a stream brings, as one hash. */
export async function hashOf(stream: AsyncIterable<unknown>): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of stream) hash.update(piece as Uint8Array);
  return hash.digest("hex");
}

export async function bytesOf(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece as Uint8Array);
  return Buffer.concat(pieces);
}

/** The rows of exchanges, without times and ids. */
export function endsOf(gateway: TestGateway): readonly string[] {
  return gateway.done.map(({ how, status }) => `${how} ${status ?? "-"}`);
}
