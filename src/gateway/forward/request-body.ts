// The body of a client's request on its way to the upstream, with back-pressure and without copying.
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { Watch } from "./watch-exchanges.ts";

/** Shorter ones are sent in one write with their headers. */
const wholeBytesMax = 65_536;

interface Taking {
  readonly watch: Watch | null;
  /** The whole body, if it was read before. */
  readonly read: readonly Buffer[] | null;
  /** Whether no part of it may be sent before the last. */
  readonly isWhole?: boolean;
}

/**
 * Calls `send` with a body for the client library, null for none. A short body is read first; a long one is passed on
 * as it arrives, unless other bytes may be sent in its place. Does not call `send` if the client leaves first.
 */
export function takeBody(
  incoming: IncomingMessage,
  { watch, read, isWhole = false }: Taking,
  send: (body: Buffer | Readable | null) => void,
): void {
  const { headers } = incoming;
  const length = headers["content-length"];
  const isChunked = headers["transfer-encoding"] !== undefined;
  if (!isChunked && (length === undefined || Number(length) === 0)) {
    watch?.requestEnd();
    // Otherwise Node takes the connection's next request for unread bytes of this one.
    incoming.resume();
    return send(null);
  }
  if (read !== null) {
    for (const piece of read) watch?.requestBytes(piece);
    return sendWhole(read, watch, send);
  }
  if (isWhole) return takeWhole(incoming, watch, send);
  const wholeMax = Math.max(wholeBytesMax, watch?.rewrittenBytesMax ?? 0);
  if (!isChunked && Number(length) <= wholeMax) return takeWhole(incoming, watch, send);
  send(passOn(incoming, watch));
}

function takeWhole(
  incoming: IncomingMessage,
  watch: Watch | null,
  send: (body: Buffer) => void,
): void {
  const pieces: Uint8Array[] = [];
  incoming.on("data", (piece: Buffer) => pieces.push(...show(piece, watch)));
  incoming.on("end", () => sendWhole(pieces, watch, send));
}

/** After its last piece was shown to the watch. */
function sendWhole(
  pieces: readonly Uint8Array[],
  watch: Watch | null,
  send: (body: Buffer) => void,
): void {
  if (watch === null) return send(joined(pieces));
  watch.rewrite((other) => {
    watch.requestEnd();
    send(joined(other ?? pieces));
  });
}

function joined(pieces: readonly Uint8Array[]): Buffer {
  const [only] = pieces;
  return pieces.length === 1 && Buffer.isBuffer(only) ? only : Buffer.concat(pieces);
}

/** The request itself is never handed over: the client library would destroy its socket, and the answer with it. */
function passOn(incoming: IncomingMessage, watch: Watch | null): Readable {
  let hasEnded = false;
  const body = new Readable({ read: () => void incoming.resume() });
  const onData = (piece: Buffer): void => {
    let mayGoOn = true;
    for (const bytes of show(piece, watch)) mayGoOn = body.push(bytes);
    if (!mayGoOn) incoming.pause();
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
  // An upstream that has answered does not need the rest. It is read and dropped, so that the client reads the answer.
  body.on("close", () => {
    incoming.off("data", onData).resume();
  });
  body.on("error", () => {});
  return body;
}

/** The bytes to pass on. */
function show(piece: Buffer, watch: Watch | null): readonly Uint8Array[] {
  const kept = watch?.requestBytes(piece) ?? [piece];
  if (!kept.includes(piece)) release(piece);
  return kept;
}

/** Its memory is free at once. Long bodies would otherwise make the collection of garbage the largest cost of all. */
function release({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
