// Decides what happens to each request: forward it, relay it, refuse it, or answer with the gateway's own state.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import packageJson from "../../package.json" with { type: "json" };
import { onlyPresent } from "../core/message/fields.ts";
import {
  beginExchange,
  deniedAs,
  directRequest,
  isCoded,
  type BegunExchange,
  type Directing,
  type HealthAsked,
  type ToUpstream,
} from "./direct-request.ts";
import type { ExchangeStart } from "./exchange.ts";
import type { ExchangeBook } from "./exchange-book.ts";
import { describeHeaders, withoutKeys } from "./forward/describe-request.ts";
import {
  forwardExchange,
  type ForwardedEnd,
  type UpstreamDispatcher,
} from "./forward/forward-exchange.ts";
import { refuse, type Refusal } from "./forward/refuse.ts";
import { createResend, type SendAgainOptions } from "./forward/send-again.ts";
import { refuseUpgrade, relayUpgrade } from "./forward/relay-upgrade.ts";
import type { Watching } from "./forward/watch-exchanges.ts";
import { endUnreadBody, type ListenerOptions } from "./listen/open-listener.ts";

export interface AnswerParts {
  readonly directing: () => Directing;
  readonly dispatcher: UpstreamDispatcher;
  readonly watching: Watching;
  readonly book: ExchangeBook;
  readonly health: (asked: HealthAsked) => object;
  readonly firstByteMsMax: number;
  /** Answers requests of its own instead of forwarding them; null for nothing. */
  readonly own: OwnAnswers | null;
  /** Whether the gateway may send requests of its own with a client's key. */
  readonly mayResend: boolean;
}

/** It decides by itself who may ask. */
export interface OwnAnswers {
  takes(url: string): boolean;
  answer(incoming: IncomingMessage, outgoing: ServerResponse): void;
}

export function answerRequests(
  parts: AnswerParts,
): Pick<ListenerOptions, "onRequest" | "onUpgrade"> {
  const { directing, watching, book, health, own } = parts;
  /** Our own mistake is answered, not left to hang. */
  const guard: Guard = (work, answer) => {
    try {
      work();
    } catch (error) {
      watching.noteFault(error);
      answer(ownFault);
    }
  };
  const unclear = new WeakSet<object>();
  const onRequest = (answering: Answering): void => {
    const { incoming, outgoing } = answering;
    // The connection closes after the answer to the previous request.
    if (unclear.has(incoming.socket)) return void incoming.resume();
    if (own?.takes(incoming.url ?? "") === true && !isCoded(incoming)) {
      return own.answer(incoming, outgoing);
    }
    const begun = beginExchange(incoming);
    const direction = directRequest(incoming, begun, directing());
    if (direction.kind === "health") return answerHealth(outgoing, health(direction));
    if (direction.kind === "refused") {
      if (endsConnection(answering, direction.refusal)) unclear.add(incoming.socket);
      return refuseRequest(begun, answering, { ...direction, book });
    }
    if (incoming.headers.expect !== undefined) outgoing.writeContinue();
    forwardRequest(begun, answering, { ...parts, direction, guard });
  };
  return {
    onRequest: (incoming, outgoing) =>
      guard(
        () => onRequest({ incoming, outgoing }),
        (refusal) => refuse(outgoing, refusal),
      ),
    onUpgrade: (incoming, socket, head) =>
      guard(
        () => upgrade({ incoming, socket, head }, parts),
        (refusal) => refuseUpgrade(incoming, socket, refusal),
      ),
  };
}

type Guard = (work: () => void, answer: (refusal: Refusal) => void) => void;

function refuseRequest(
  begun: BegunExchange,
  { incoming, outgoing }: Answering,
  { refusal, book }: { readonly refusal: Refusal; readonly book: ExchangeBook },
): void {
  refuse(outgoing, refusal);
  endUnreadBody(incoming);
  book.refused(begun, refusal);
}

interface ToForward extends AnswerParts {
  readonly direction: ToUpstream;
  readonly guard: Guard;
}

/** With limits on what its key may do, when its body has been read and judged. */
function forwardRequest(begun: BegunExchange, answering: Answering, parts: ToForward): void {
  const { incoming, outgoing } = answering;
  const { direction, dispatcher, watching, book, firstByteMsMax, mayResend, guard } = parts;
  const { target, pass } = direction;
  const forward = (body?: readonly Buffer[]): void => {
    const again = mayResend ? { dispatcher, target, firstByteMsMax } : null;
    const watch = watching.begin(() => toStart(begun, direction, incoming, again));
    const close = book.open(begun, target, watch !== null);
    const onEnd = (end: ForwardedEnd): void => {
      pass?.end(end, watch !== null);
      close(end);
    };
    const forwarding = { dispatcher, target, watch, firstByteMsMax, onEnd };
    forwardExchange(incoming, outgoing, { ...forwarding, ...onlyPresent({ body }) });
  };
  if (pass === null || pass.read === null) return forward();
  pass.read({
    onWhole: (body) =>
      guard(
        () => forward(body),
        (refusal) => {
          pass.end({ how: "no answer", status: null }, false);
          refuse(outgoing, refusal);
        },
      ),
    onDenied: (denial) => {
      refuseRequest(begun, answering, { refusal: deniedAs(denial, incoming, target), book });
    },
    onLeft: () => book.open(begun, target, false)(leftEarly()),
  });
}

interface Upgrading {
  readonly incoming: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

function upgrade(
  { incoming, socket, head }: Upgrading,
  { directing, dispatcher, book, firstByteMsMax }: AnswerParts,
): void {
  const begun = beginExchange(incoming);
  const direction = directRequest(incoming, begun, directing());
  // The state route takes no WebSocket.
  if (direction.kind === "health") return void socket.destroy();
  if (direction.kind === "refused") {
    refuseUpgrade(incoming, socket, direction.refusal);
    return book.refused(begun, direction.refusal);
  }
  const { target, pass } = direction;
  const close = book.open(begun, target, false);
  const onEnd = (end: ForwardedEnd): void => {
    pass?.end(end, false);
    close(end);
  };
  relayUpgrade(incoming, socket, { head, dispatcher, target, firstByteMsMax, onEnd });
}

/** A server in front of us may see the body end elsewhere, and take the bytes after it for another client's request. */
function endsConnection({ incoming, outgoing }: Answering, { code }: Refusal): boolean {
  const isUnclear = code === "transfer_coding";
  // A client that waits to be asked for its body will not send it.
  outgoing.shouldKeepAlive &&= !isUnclear && incoming.headers.expect === undefined;
  return isUnclear;
}

interface Answering {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** The client closed its connection before its body had arrived. */
function leftEarly(): ForwardedEnd {
  const end = { endMs: Date.now(), firstByteMs: null, status: null, responseBytes: 0 };
  return { how: "client left", ...end };
}

const ownFault: Refusal = {
  status: 500,
  code: "internal",
  message: "the gateway made a mistake of its own; its log says which",
};

function toStart(
  begun: BegunExchange,
  { target, pass }: Pick<ToUpstream, "target" | "pass">,
  incoming: IncomingMessage,
  again: SendAgainOptions | null,
): ExchangeStart {
  const { headers } = incoming;
  return {
    ...begun,
    path: withoutKeys(target.path),
    upstream: target.upstream,
    origin: target.origin,
    ...describeHeaders(headers, target.path, target),
    ...(pass === null ? {} : { account: pass.account }),
    ...(target.spoken === null ? {} : { protocol: target.spoken.name }),
    ...(again === null ? {} : { resend: createResend(incoming, again) }),
  };
}

function answerHealth(outgoing: ServerResponse, health: object): void {
  const body = JSON.stringify({ version: packageJson.version, ...health });
  outgoing.writeHead(200, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
  });
  outgoing.end(body);
}
