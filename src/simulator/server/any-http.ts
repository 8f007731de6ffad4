// Serves HTTP/1.1 and HTTP/2 without TLS on one port: the clients of AWS speak HTTP/2 from the first byte.
import { createServer as createHttp1, type IncomingMessage } from "node:http";
import { createServer as createHttp2, type Http2ServerRequest } from "node:http2";
import { createServer, type Server, type Socket } from "node:net";

export type Incoming = IncomingMessage | Http2ServerRequest;

/** What the responses of both versions have in common. */
export interface Outgoing extends NodeJS.EventEmitter {
  readonly writableEnded: boolean;
  readonly destroyed?: boolean;
  writeHead(status: number, headers: Readonly<Record<string, string>>): unknown;
  flushHeaders?(): void;
  write(chunk: Uint8Array, onWritten: () => void): boolean;
  end(text: string): unknown;
  end(): unknown;
  destroy(error?: Error): unknown;
}

export interface AnyHttpServer {
  readonly server: Server;
  /** Ends every connection, idle or not. */
  readonly closeConnections: () => void;
}

/** How a client of HTTP/2 begins; it sends this at once. */
const preface = Buffer.from("PRI * HTTP/2.0");

export function createAnyHttp(
  serve: (incoming: Incoming, outgoing: Outgoing) => void,
): AnyHttpServer {
  // A request without a host is refused by our own words, not by an empty answer of Node.
  const http1 = createHttp1({ requireHostHeader: false }, serve);
  const http2 = createHttp2({}, serve);
  http1.on("clientError", (_error, socket) => socket.destroy());
  http2.on("sessionError", () => {});
  const open = new Set<Socket>();
  // Node's own HTTP servers do not wait to fill packets either; a reply would be 40 ms late.
  const server = createServer({ noDelay: true }, (socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.once("data", (first: Buffer) => {
      socket.pause();
      socket.unshift(first);
      const isHttp2 = first.subarray(0, preface.length).equals(preface);
      (isHttp2 ? http2 : http1).emit("connection", socket);
      process.nextTick(() => socket.resume());
    });
  });
  return {
    server,
    closeConnections: () => {
      for (const socket of open) socket.destroy();
    },
  };
}
