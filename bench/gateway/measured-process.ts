// A process of the bench: the upstream, the bare proxy, the gateway, or the gateway without an observer. Answers what it used when it is asked.
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { assert } from "../../src/core/assert.ts";
import { readConfig } from "../../src/core/config/read-config.ts";
import { openGateway } from "../../src/gateway/open-gateway.ts";
import { openForwarder } from "../../src/gateway/open-forwarder.ts";
import type { OptimizeSettings } from "../../src/gateway/optimize/may-mark.ts";
import { toUpstreamTable } from "../../src/gateway/upstreams/configured.ts";
import { createBareProxy } from "./bare-proxy.ts";
import { newBytesOf } from "./load.ts";

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
  if (kind === "gateway" || kind === "optimize" || kind === "forward") {
    const configured = { baseUrl: upstream, protocol: null, headers: new Map<string, string>() };
    const table = toUpstreamTable(new Map([["anthropic", configured]]));
    const options = { table, env: {}, onProblem, limits: { keepAliveMs: 600_000 } };
    if (kind === "gateway") return (await openGateway({ ...options, store })).port;
    if (kind === "optimize") {
      return (await openGateway({ ...options, store, optimize: optimizeAll() })).port;
    }
    return (await openForwarder({ ...options, observer: { begin: () => null } })).port;
  }
  return listen(kind === "bare" ? createBareProxy(upstream) : createServer(answer));
}

/** Every conversation, and else what nobody configured. */
function optimizeAll(): OptimizeSettings {
  const { config } = readConfig({ files: [] });
  assert(config !== null, "an empty configuration is right");
  return { ...config.gateway.optimize, share: 100, holdout: 0, upstreams: ["anthropic"] };
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
  const usage = usageOf(Number(incoming.headers["content-length"]));
  incoming.resume().on("end", () => {
    const events = Number(asked.get("events") ?? 0);
    if (events === 0) return sendWhole(outgoing, usage);
    outgoing.writeHead(200, { "content-type": "text/event-stream" });
    outgoing.write(startOfStream(usage));
    if (asked.has("open")) return;
    let sent = 0;
    const next = (): void => {
      if (sent === events) return void outgoing.end(endOfStream(usage));
      sent += 1;
      outgoing.write(delta);
      setImmediate(next);
    };
    next();
  });
}

type Usage = Readonly<Record<string, number>>;

/** As a provider bills a conversation that grows: all but the latest messages is read, so that no call looks like a miss. */
function usageOf(bodyBytes: number): Usage {
  const written = Math.round(newBytesOf(bodyBytes) / 3.6);
  return {
    input_tokens: 0,
    cache_read_input_tokens: Math.max(0, Math.round(bodyBytes / 3.6) - written),
    cache_creation_input_tokens: written,
    output_tokens: 20,
  };
}

const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-5-5",
  content: [{ type: "text", text: "It says how to install it. ".repeat(30) }],
  stop_reason: "end_turn",
  stop_sequence: null,
};

function sendWhole(outgoing: ServerResponse, usage: Usage): void {
  const body = JSON.stringify({ ...message, usage });
  outgoing.writeHead(200, { "content-type": "application/json", "request-id": "req_1" });
  outgoing.end(body);
}

function event(type: string, rest: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
}

function startOfStream(usage: Usage): string {
  const started = { message: { ...message, content: [], stop_reason: null, usage } };
  const block = { index: 0, content_block: { type: "text", text: "" } };
  return event("message_start", started) + event("content_block_start", block);
}

const delta = event("content_block_delta", {
  index: 0,
  delta: { type: "text_delta", text: "It says how to install it. " },
});

function endOfStream(usage: Usage): string {
  const ended = { delta: { stop_reason: "end_turn", stop_sequence: null }, usage };
  return (
    event("content_block_stop", { index: 0 }) +
    event("message_delta", ended) +
    event("message_stop", {})
  );
}
