// Decides what happens to each request: forward it, relay it, refuse it, or answer with the gateway's own state.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import packageJson from "../../package.json" with { type: "json" };
import {
  beginExchange,
  directRequest,
  isCoded,
  type BegunExchange,
  type Directing,
} from "./direct-request.ts";
import type { ExchangeStart } from "./exchange.ts";
import type { ExchangeBook } from "./exchange-book.ts";
import { describeHeaders, withoutKeys } from "./forward/describe-request.ts";
import { forwardExchange, type UpstreamDispatcher } from "./forward/forward-exchange.ts";
import { refuse, type Refusal } from "./forward/refuse.ts";
import { createResend, type SendAgainOptions } from "./forward/send-again.ts";
import { refuseUpgrade, relayUpgrade } from "./forward/relay-upgrade.ts";
import type { Watching } from "./forward/watch-exchanges.ts";
import type { ListenerOptions } from "./listen/open-listener.ts";
import type { Target } from "./upstreams/upstream-table.ts";

export interface AnswerParts {
  readonly directing: () => Directing;
  readonly dispatcher: UpstreamDispatcher;
  readonly watching: Watching;
  readonly book: ExchangeBook;
  readonly health: () => object;
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
  const { directing, dispatcher, watching, book, health, firstByteMsMax, own, mayResend } = parts;
  /** Our own mistake is answered, not left to hang. */
  const guard = (work: () => void, answer: (refusal: Refusal) => void): void => {
    try {
      work();
    } catch (error) {
      watching.noteFault(error);
      answer(ownFault);
    }
  };
  const unclear = new WeakSet<object>();
  const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    // The connection closes after the answer to the previous request.
    if (unclear.has(incoming.socket)) return void incoming.resume();
    if (own?.takes(incoming.url ?? "") === true && !isCoded(incoming)) {
      return own.answer(incoming, outgoing);
    }
    const begun = beginExchange(incoming);
    const direction = directRequest(incoming, directing());
    if (direction.kind === "health") return answerHealth(outgoing, health());
    if (direction.kind === "refused") {
      if (endsConnection(outgoing, direction.refusal)) unclear.add(incoming.socket);
      refuse(outgoing, direction.refusal);
      return book.refused(begun, direction.refusal);
    }
    const { target } = direction;
    if (incoming.headers.expect !== undefined) outgoing.writeContinue();
    const again = mayResend ? { dispatcher, target, firstByteMsMax } : null;
    const watch = watching.begin(() => toStart(begun, target, incoming, again));
    const onEnd = book.open(begun, target, watch !== null);
    forwardExchange(incoming, outgoing, { dispatcher, target, watch, firstByteMsMax, onEnd });
  };
  const onUpgrade = (incoming: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const begun = beginExchange(incoming);
    const direction = directRequest(incoming, directing());
    // The state route takes no WebSocket.
    if (direction.kind === "health") return void socket.destroy();
    if (direction.kind === "refused") {
      refuseUpgrade(incoming, socket, direction.refusal);
      return book.refused(begun, direction.refusal);
    }
    const { target } = direction;
    const onEnd = book.open(begun, target, false);
    relayUpgrade(incoming, socket, { head, dispatcher, target, firstByteMsMax, onEnd });
  };
  return {
    onRequest: (incoming, outgoing) =>
      guard(
        () => onRequest(incoming, outgoing),
        (refusal) => refuse(outgoing, refusal),
      ),
    onUpgrade: (incoming, socket, head) =>
      guard(
        () => onUpgrade(incoming, socket, head),
        (refusal) => refuseUpgrade(incoming, socket, refusal),
      ),
  };
}

/** A server in front of us may see the body end elsewhere, and take the bytes after it for another client's request. */
function endsConnection(outgoing: ServerResponse, { code }: Refusal): boolean {
  const isUnclear = code === "transfer_coding";
  outgoing.shouldKeepAlive &&= !isUnclear;
  return isUnclear;
}

const ownFault: Refusal = {
  status: 500,
  code: "internal",
  message: "the gateway made a mistake of its own; its log says which",
};

function toStart(
  begun: BegunExchange,
  target: Target,
  incoming: IncomingMessage,
  again: SendAgainOptions | null,
): ExchangeStart {
  const { headers } = incoming;
  return {
    ...begun,
    path: withoutKeys(target.path),
    upstream: target.upstream,
    ...describeHeaders(headers, target.path, target),
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
