// One request and its answer: raw bytes both ways, with back-pressure. Nothing here reads, changes or repeats them.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import type { ExchangeEnd } from "../exchange.ts";
import type { Target } from "../upstreams/upstream-table.ts";
import {
  passRequestHeaders,
  passResponseHeaders,
  toRawHeaders,
  type RawHeaders,
} from "./pass-headers.ts";
import { refuse, toRefusal } from "./refuse.ts";
import { takeBody } from "./request-body.ts";
import type { Watch } from "./watch-exchanges.ts";

export interface Forwarding {
  readonly dispatcher: UpstreamDispatcher;
  readonly target: Target;
  /** Null for an exchange that is not watched. */
  readonly watch: Watch | null;
  readonly firstByteMsMax: number;
  /** The request's body, if it was read before. */
  readonly body?: readonly Buffer[];
  /** Called once, when the exchange is over. */
  readonly onEnd: (end: ForwardedEnd) => void;
}

export interface ForwardedEnd extends ExchangeEnd {
  /** Null without an answer. */
  readonly status: number | null;
  readonly responseBytes: number;
}

export interface UpstreamDispatcher {
  dispatch(request: UpstreamRequest, handler: Dispatcher.DispatchHandler): void;
}

export interface UpstreamRequest extends Omit<Dispatcher.DispatchOptions, "headers"> {
  readonly origin: string;
  readonly headers: string[];
}

/** Answers in any case, or breaks the connection where the upstream broke its own. */
export function forwardExchange(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  forwarding: Forwarding,
): void {
  const { dispatcher, target, watch, firstByteMsMax } = forwarding;
  const passage = openPassage(outgoing, forwarding);
  const { origin, path, sign } = target;
  const method = incoming.method ?? "GET";
  const send = (headers: string[], body: Buffer | Readable | null): void => {
    if (passage.isOver()) return;
    try {
      dispatcher.dispatch(
        {
          origin,
          path,
          method,
          headers,
          body,
          headersTimeout: firstByteMsMax,
          // Only the client decides how long a reply may pause.
          bodyTimeout: 0,
        },
        passage.handler,
      );
    } catch (error) {
      passage.fail(toError(error));
    }
  };
  // A signature covers the whole body.
  const taking = { watch, read: forwarding.body ?? null, isWhole: sign !== undefined };
  takeBody(incoming, taking, ({ content: body, length }) => {
    const headers = withLength(passRequestHeaders(incoming.rawHeaders, target), length);
    if (sign === undefined || (body !== null && !Buffer.isBuffer(body))) return send(headers, body);
    sign({ method, origin, path, headers, body }).then(
      (signed) => send(signed, body),
      (error: unknown) => passage.fail(toError(error)),
    );
  });
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function withLength(headers: string[], length: number | null): string[] {
  if (length === null) return headers;
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at]?.toLowerCase() === "content-length") headers[at + 1] = String(length);
  }
  return headers;
}

interface Passage {
  readonly handler: Dispatcher.DispatchHandler;
  readonly fail: (error: Error) => void;
  /** From here on the socket belongs to someone else. */
  leave(): void;
  isOver(): boolean;
}

/** The way back of one answer. */
export function openPassage(
  outgoing: ServerResponse,
  { target, watch, onEnd }: Pick<Forwarding, "target" | "watch" | "onEnd">,
): Passage {
  let controller: Dispatcher.DispatchController | null = null;
  let isOver = false;
  let [status, firstByteMs]: [number | null, number | null] = [null, null];
  let responseBytes = 0;

  const finish = (how: ExchangeEnd["how"]): void => {
    isOver = true;
    const end = { how, endMs: Date.now(), firstByteMs };
    watch?.end(end);
    onEnd({ ...end, status, responseBytes });
  };
  const fail = (error: Error): void => {
    if (isOver) return;
    finish(status === null ? "no answer" : "cut");
    if (status === null) refuse(outgoing, toRefusal(error, target.upstream));
    else breakOff(outgoing);
  };
  followClient(outgoing, {
    onReady: () => controller?.resume(),
    onLeft: () => {
      if (isOver) return;
      finish("client left");
      controller?.abort(clientLeft());
    },
  });
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart: (given) => {
      controller = given;
      if (isOver) given.abort(clientLeft());
    },
    onResponseStart: (given, code, _headers, statusText = "") => {
      // Interim answers, such as early hints, are for the connection's own client.
      if (code < 200 || isOver) return;
      [status, firstByteMs] = [code, Date.now()];
      const raw = toRawHeaders(given.rawHeaders);
      beginAnswer(outgoing, { code, statusText, raw });
      watch?.responseHead(code, raw);
    },
    onResponseData: (given, bytes) => {
      if (isOver) return;
      responseBytes += bytes.byteLength;
      if (!outgoing.write(bytes)) given.pause();
      watch?.responseBytes(bytes);
    },
    onResponseEnd: (given) => {
      if (isOver) return;
      endAnswer(outgoing, toRawHeaders(given.rawTrailers));
      finish("complete");
    },
    onResponseError: (_given, error) => fail(error),
  };
  const leave = (): void => {
    isOver = true;
    if (outgoing.socket !== null) outgoing.detachSocket(outgoing.socket);
  };
  return { handler, fail, leave, isOver: () => isOver };
}

interface ClientEvents {
  /** The client takes more bytes. */
  readonly onReady: () => void;
  readonly onLeft: () => void;
}

function followClient(outgoing: ServerResponse, { onReady, onLeft }: ClientEvents): void {
  outgoing.on("drain", onReady);
  outgoing.on("close", onLeft);
  // A socket can fail at any time; "close" follows.
  outgoing.on("error", () => {});
}

function clientLeft(): Error {
  return new Error("the client left");
}

interface AnswerHead {
  readonly code: number;
  readonly statusText: string;
  readonly raw: RawHeaders;
}

function beginAnswer(outgoing: ServerResponse, { code, statusText, raw }: AnswerHead): void {
  outgoing.sendDate = false;
  outgoing.writeHead(code, statusText, passResponseHeaders(raw));
  // With the first bytes of the body if they have arrived, otherwise alone.
  process.nextTick(() => {
    if (!outgoing.destroyed && !outgoing.writableEnded) outgoing.flushHeaders();
  });
}

function endAnswer(outgoing: ServerResponse, trailers: RawHeaders): void {
  // Pairs, because Node keeps only the last of equal names otherwise.
  const pairs: [string, string][] = [];
  for (let at = 0; at < trailers.length; at += 2) {
    pairs.push([trailers[at] ?? "", trailers[at + 1] ?? ""]);
  }
  if (pairs.length > 0) outgoing.addTrailers(pairs);
  outgoing.end();
}

/** What has arrived is still delivered. Then the connection breaks, so that no client takes half an answer for a whole one. */
function breakOff(outgoing: ServerResponse): void {
  const { socket } = outgoing;
  if (socket === null) {
    // A pipelined answer, whose turn has not come.
    outgoing.destroy();
    return;
  }
  outgoing.flushHeaders();
  socket.destroySoon();
}
