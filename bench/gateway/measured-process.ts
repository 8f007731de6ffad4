// A process of the bench: the upstream, the bare proxy, the gateway, or the gateway without an observer. Answers what it used when it is asked.
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { openGateway } from "../../src/gateway/open-gateway.ts";
import { openForwarder } from "../../src/gateway/open-forwarder.ts";
import { toUpstreamTable } from "../../src/gateway/upstreams/configured.ts";
import { createBareProxy } from "./bare-proxy.ts";

/** CPU milliseconds so far, or resident bytes after a collection of garbage, which costs CPU itself. */
export type Asked = "cpu" | "memory";

const [, , kind = "", upstream = "", store = ""] = process.argv;

process.on("message", (asked: Asked) => {
  if (asked === "memory") globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  process.send?.(asked === "cpu" ? (user + system) / 1000 : process.memoryUsage().rss);
});
process.on("disconnect", () => process.exit());
process.send?.({ port: await open() });

async function open(): Promise<number> {
  if (kind === "gateway" || kind === "forward") {
    const configured = { baseUrl: upstream, protocol: null, headers: new Map<string, string>() };
    const table = toUpstreamTable(new Map([["anthropic", configured]]));
    const options = { table, env: {}, onProblem, limits: { keepAliveMs: 600_000 } };
    if (kind === "gateway") return (await openGateway({ ...options, store })).port;
    return (await openForwarder({ ...options, observer: { begin: () => null } })).port;
  }
  return listen(kind === "bare" ? createBareProxy(upstream) : createServer(answer));
}

function onProblem(problem: string): void {
  console.error(problem);
}

async function listen(server: Server): Promise<number> {
  // A connection must not end while another contender has its turn.
  server.keepAliveTimeout = 600_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** As the Messages API answers: whole, as a stream of events one by one, or a stream that stays open. */
function answer(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const asked = new URL(incoming.url ?? "/", "http://x").searchParams;
  incoming.resume().on("end", () => {
    const events = Number(asked.get("events") ?? 0);
    if (events === 0) return sendWhole(outgoing);
    outgoing.writeHead(200, { "content-type": "text/event-stream" });
    outgoing.write(startOfStream);
    if (asked.has("open")) return;
    let sent = 0;
    const next = (): void => {
      if (sent === events) return void outgoing.end(endOfStream);
      sent += 1;
      outgoing.write(delta);
      setImmediate(next);
    };
    next();
  });
}

const usage = {
  input_tokens: 10,
  cache_read_input_tokens: 2000,
  cache_creation_input_tokens: 100,
  output_tokens: 20,
};

const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-5-5",
  content: [{ type: "text", text: "It says how to install it. ".repeat(30) }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage,
};

function sendWhole(outgoing: ServerResponse): void {
  const body = JSON.stringify(message);
  outgoing.writeHead(200, { "content-type": "application/json", "request-id": "req_1" });
  outgoing.end(body);
}

function event(type: string, rest: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
}

const startOfStream =
  event("message_start", { message: { ...message, content: [], stop_reason: null } }) +
  event("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
const delta = event("content_block_delta", {
  index: 0,
  delta: { type: "text_delta", text: "It says how to install it. " },
});
const endOfStream =
  event("content_block_stop", { index: 0 }) +
  event("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage }) +
  event("message_stop", {});
