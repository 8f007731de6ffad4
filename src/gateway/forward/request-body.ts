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

/** What the client library sends; null for none. */
export interface Body {
  readonly content: Buffer | Readable | null;
  /** Null if it is what the client's headers say. A whole body may be a rewritten one. */
  readonly length: number | null;
}

/**
 * Calls `send` with the body for the client library. A short body is read first; a long one is passed on
 * as it arrives, unless other bytes may be sent in its place. Does not call `send` if the client leaves first.
 */
export function takeBody(
  incoming: IncomingMessage,
  { watch, read, isWhole = false }: Taking,
  send: (body: Body) => void,
): void {
  const { headers } = incoming;
  const length = headers["content-length"];
  const isChunked = headers["transfer-encoding"] !== undefined;
  if (!isChunked && (length === undefined || Number(length) === 0)) {
    watch?.requestEnd();
    // Otherwise Node takes the connection's next request for unread bytes of this one.
    incoming.resume();
    return send({ content: null, length: null });
  }
  if (read !== null) {
    for (const piece of read) watch?.requestBytes(piece);
    return sendWhole(read, { watch, isWhole }, send);
  }
  if (isWhole) return takeWhole(incoming, { watch, isWhole }, send);
  const wholeMax = Math.max(wholeBytesMax, watch?.rewrittenBytesMax ?? 0);
  if (!isChunked && Number(length) <= wholeMax) {
    return takeWhole(incoming, { watch, isWhole }, send);
  }
  send({ content: passOn(incoming, watch), length: null });
}

type TakingWhole = Required<Pick<Taking, "watch" | "isWhole">>;

function takeWhole(
  incoming: IncomingMessage,
  taking: TakingWhole,
  send: (body: Body) => void,
): void {
  const pieces: Uint8Array[] = [];
  incoming.on("data", (piece: Buffer) => pieces.push(...show(piece, taking.watch)));
  incoming.on("end", () => sendWhole(pieces, taking, send));
}

/** After its last piece was shown to the watch. */
function sendWhole(
  pieces: readonly Uint8Array[],
  { watch, isWhole }: TakingWhole,
  send: (body: Body) => void,
): void {
  if (watch === null) return send(toBody(pieces, isWhole));
  watch.rewrite((other) => {
    watch.requestEnd();
    send(toBody(other ?? pieces, isWhole));
  });
}

/** A long one is sent piece by piece, because joining it would copy it. */
function toBody(pieces: readonly Uint8Array[], isWhole: boolean): Body {
  const length = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const [only] = pieces;
  if (pieces.length === 1 && Buffer.isBuffer(only)) return { content: only, length };
  const isJoined = isWhole || length <= wholeBytesMax;
  return { content: isJoined ? Buffer.concat(pieces) : inTurn(pieces), length };
}

function inTurn(pieces: readonly Uint8Array[]): Readable {
  const left = pieces.values();
  const body = new Readable({
    read: () => {
      const { done, value } = left.next();
      body.push(done === true ? null : value);
    },
  });
  // An upstream that answers early, or breaks off, ends it.
  return body.on("error", () => {});
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
