// WebSockets: the upgrade is asked for at the upstream, and then both sides talk to each other through raw sockets.
import { ServerResponse, type IncomingMessage } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { openPassage, type ForwardedEnd, type Forwarding } from "./forward-exchange.ts";
import { passRequestHeaders, toRawHeaders, type RawHeaders } from "./pass-headers.ts";
import { refuse, type Refusal } from "./refuse.ts";

export interface Relaying extends Pick<Forwarding, "dispatcher" | "target" | "firstByteMsMax"> {
  readonly onEnd: (end: ForwardedEnd) => void;
}

/** Whether a request asks for the one upgrade that is relayed. Others are forwarded without it, as HTTP allows. */
export function asksForWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === "GET" && headers.upgrade?.toLowerCase() === "websocket";
}

export function relayUpgrade(
  incoming: IncomingMessage,
  socket: Duplex,
  { head, ...relaying }: Relaying & { readonly head: Buffer },
): void {
  const { dispatcher, target, firstByteMsMax, onEnd } = relaying;
  const passage = openPassage(answerOn(incoming, socket), { target, watch: null, onEnd });
  try {
    dispatcher.dispatch(
      {
        origin: target.origin,
        path: target.path,
        method: "GET",
        headers: passRequestHeaders(incoming.rawHeaders, target),
        upgrade: "websocket",
        headersTimeout: firstByteMsMax,
        bodyTimeout: 0,
      },
      {
        ...passage.handler,
        onRequestUpgrade: (controller, status, _headers, upstream) => {
          const firstByteMs = Date.now();
          passage.leave();
          if (socket.destroyed) return void upstream.destroy();
          socket.write(headOf(status, toRawHeaders(controller.rawHeaders)), "latin1");
          if (head.length > 0) upstream.write(head);
          join(socket, upstream, (responseBytes) => {
            onEnd({ how: "complete", endMs: Date.now(), firstByteMs, status, responseBytes });
          });
        },
      },
    );
  } catch (error) {
    passage.fail(error instanceof Error ? error : new Error(String(error)));
  }
}

export function refuseUpgrade(incoming: IncomingMessage, socket: Duplex, refusal: Refusal): void {
  refuse(answerOn(incoming, socket), refusal);
}

/** For an upgrade Node gives a bare socket. An upstream that does not agree answers as to any other request. */
function answerOn(incoming: IncomingMessage, socket: Duplex): ServerResponse {
  const outgoing = new ServerResponse(incoming);
  outgoing.shouldKeepAlive = false;
  socket.on("error", () => {});
  if (socket instanceof Socket) outgoing.assignSocket(socket);
  socket.on("drain", () => outgoing.emit("drain"));
  outgoing.on("finish", () => socket.end());
  return outgoing;
}

function headOf(status: number, raw: RawHeaders): string {
  const lines = [`HTTP/1.1 ${status} Switching Protocols`];
  for (let at = 0; at < raw.length; at += 2) lines.push(`${raw[at]}: ${raw[at + 1]}`);
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** If one side ends, so does the other. */
function join(client: Duplex, upstream: Duplex, onEnd: (upstreamBytes: number) => void): void {
  let upstreamBytes = 0;
  upstream.on("data", (bytes: Buffer) => {
    upstreamBytes += bytes.byteLength;
  });
  client.pipe(upstream);
  upstream.pipe(client);
  upstream.on("error", () => {});
  client.on("close", () => upstream.destroy());
  upstream.on("close", () => {
    client.destroy();
    onEnd(upstreamBytes);
  });
}
