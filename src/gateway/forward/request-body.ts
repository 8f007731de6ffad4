// The body of a client's request on its way to the upstream, with back-pressure and without copying.
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { Watch } from "./watch-exchanges.ts";

/** Shorter ones are sent in one write with their headers. */
const wholeBytesMax = 65_536;

/**
 * Calls `send` with what the client library takes: null for no body. A short body is read first; a long one is passed on
 * as it comes, unless other bytes may be sent in place of it. Never calls it for a client that leaves before.
 */
export function takeBody(
  incoming: IncomingMessage,
  watch: Watch | null,
  send: (body: Buffer | Readable | null) => void,
): void {
  const { headers } = incoming;
  const length = headers["content-length"];
  const isChunked = headers["transfer-encoding"] !== undefined;
  if (!isChunked && (length === undefined || Number(length) === 0)) {
    watch?.requestEnd();
    // Otherwise Node takes the next request on this connection for unread bytes of this one.
    incoming.resume();
    return send(null);
  }
  const wholeMax = Math.max(wholeBytesMax, watch?.rewrittenBytesMax ?? 0);
  if (!isChunked && Number(length) <= wholeMax) return takeWhole(incoming, watch, send);
  send(passOn(incoming, watch));
}

function takeWhole(
  incoming: IncomingMessage,
  watch: Watch | null,
  send: (body: Buffer) => void,
): void {
  const pieces: Buffer[] = [];
  incoming.on("data", (piece: Buffer) => {
    pieces.push(piece);
    watch?.requestBytes(piece);
  });
  incoming.on("end", () => {
    const sent = watch?.rewrite() ?? pieces;
    watch?.requestEnd();
    send(
      sent === pieces && pieces.length === 1 && pieces[0] !== undefined
        ? pieces[0]
        : Buffer.concat(sent),
    );
  });
}

/** The request itself is never handed over: the client library would destroy its socket, and the answer with it. */
function passOn(incoming: IncomingMessage, watch: Watch | null): Readable {
  let hasEnded = false;
  const body = new Readable({ read: () => void incoming.resume() });
  const onData = (piece: Buffer): void => {
    watch?.requestBytes(piece);
    if (!body.push(piece)) incoming.pause();
  };
  incoming.on("data", onData);
  incoming.on("end", () => {
    hasEnded = true;
    watch?.requestEnd();
    body.push(null);
  });
  incoming.on("close", () => {
    if (!hasEnded) body.destroy(new Error("the client left"));
  });
  // An upstream that has answered needs the rest no more: it is read and forgotten, so that the client gets the answer.
  body.on("close", () => {
    incoming.off("data", onData).resume();
  });
  body.on("error", () => {});
  return body;
}
