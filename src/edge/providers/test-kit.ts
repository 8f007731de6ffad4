// For tests: a clock that only the test moves, a protocol of three events, and servers of any kind.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTcpServer, type Server, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { assert } from "../../core/assert.ts";
import { noUsage } from "../../core/message/usage.ts";
import { toRequest, type EncodedRequest } from "../../core/wire/encoded-request.ts";
import { malformed, readRetryAfter, type ProviderFailure } from "../../core/wire/failure.ts";
import { openaiChat } from "../../core/wire/openai/chat/index.ts";
import type { Protocol, RefusedAnswer, StreamDecoder } from "../../core/wire/protocol.ts";
import type { Reply } from "../../core/wire/reply.ts";
import type { Clock } from "./clock.ts";
import { createProvider, type Provider, type ProviderOptions } from "./provider.ts";

export interface TestClock extends Clock {
  /** What waits, by the delay it was given. */
  delays(): readonly number[];
  /** Resolves when something waits with this delay. */
  waiting(delayMs: number): Promise<void>;
  advance(ms: number): void;
}

export function createTestClock(startMs = 1_000_000): TestClock {
  let now = startMs;
  const timers = new Set<{ readonly dueMs: number; readonly delayMs: number; run: () => void }>();
  const delays = (): number[] => [...timers].map(({ delayMs }) => delayMs);
  return {
    nowMs: () => now,
    after: (delayMs, run) => {
      const timer = { dueMs: now + delayMs, delayMs, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    delays,
    waiting: (delayMs) => until(() => delays().includes(delayMs)),
    advance: (ms) => {
      now += ms;
      for (const timer of [...timers].filter(({ dueMs }) => dueMs <= now)) {
        timers.delete(timer);
        timer.run();
      }
    },
  };
}

/** Lets the world go on until something is true. */
export async function until(isTrue: () => boolean): Promise<void> {
  for (const startMs = Date.now(); !isTrue(); await setImmediate()) {
    assert(Date.now() - startMs < 10_000, "a test waits for something that does not happen");
  }
}

/** `start` begins a reply, `data: {"text"}` adds to it, `end` ends it, `error` breaks it. */
export const toyProtocol: Protocol = {
  ...openaiChat,
  name: "toy",
  title: "Toy",
  path: () => "/v1/toy",
  decode: (body) => {
    try {
      const text = textIn(body);
      return toReply({ hasBegun: true, text, isOver: true, failure: null });
    } catch {
      return malformed(`not a toy: ${body.slice(0, 20)}`);
    }
  },
  stream: toyStream(),
  readFailure: readToyFailure,
};

interface ToyState {
  readonly hasBegun: boolean;
  readonly text: string;
  readonly isOver: boolean;
  readonly failure: ProviderFailure | null;
}

function toyStream(): StreamDecoder {
  const decoder: StreamDecoder<ToyState> = {
    start: { hasBegun: false, text: "", isOver: false, failure: null },
    step: (state, { event, data }) => {
      if (event === "start") return [{ ...state, hasBegun: true }, []];
      if (event === "end") return [{ ...state, isOver: true }, []];
      if (event === "error") {
        const failure = { kind: "overloaded", detail: data, retryAfterMs: undefined } as const;
        return [{ ...state, failure }, []];
      }
      const text = textIn(data);
      const next = { ...state, hasBegun: true, text: state.text + text };
      return [next, [{ type: "text", text }]];
    },
    finish: (state) =>
      state.hasBegun ? toReply(state) : (state.failure ?? malformed("no reply in the stream")),
  };
  return decoder;
}

function textIn(json: string): string {
  const value: unknown = JSON.parse(json);
  const text = typeof value === "object" && value !== null && "text" in value ? value.text : null;
  if (typeof text === "string") return text;
  throw new Error("not a toy");
}

function toReply({ text, isOver, failure }: ToyState): Reply {
  return {
    kind: "reply",
    id: "",
    model: "toy",
    message: { role: "assistant", content: text === "" ? [] : [{ type: "text", text }] },
    stopReason: isOver ? "end_turn" : "unknown",
    usage: { usage: noUsage, isReported: false, reportsCache: false, warnings: [] },
    status: isOver ? "complete" : "partial",
    ...(failure === null ? {} : { failure }),
    transformations: [],
  };
}

function readToyFailure({ status, headers, body, nowMs }: RefusedAnswer): ProviderFailure {
  const retryAfterMs = readRetryAfter(headers, nowMs);
  if (status === 429) return { kind: "rate-limited", detail: body, retryAfterMs };
  if (status === 529) return { kind: "overloaded", detail: body, retryAfterMs };
  if (status >= 500) return { kind: "server-error", detail: body, retryAfterMs };
  if (status === 413) return { kind: "request-too-large", detail: body };
  return { kind: "invalid-request", detail: body };
}

/** What the text of a reply is; undefined for a failure. */
export function textOf(outcome: Reply | ProviderFailure): string | undefined {
  if (outcome.kind !== "reply") return undefined;
  return outcome.message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

export function toyRequest(...parts: readonly (string | Uint8Array)[]): EncodedRequest {
  return toRequest({ path: "/v1/toy", parts: parts.length === 0 ? ['{"toy":true}'] : parts });
}

export function textEvent(text: string): string {
  return `data: ${JSON.stringify({ text })}\n\n`;
}

export const endEvent = "event: end\ndata: {}\n\n";

const opened: { close(): Promise<void> }[] = [];

/** Closes whatever the test has opened, the latest first. */
export async function closeAll(): Promise<void> {
  for (const each of opened.splice(0).toReversed()) await each.close();
}

export function closeLater<Opened extends { close(): Promise<void> }>(each: Opened): Opened {
  opened.push(each);
  return each;
}

/** A provider that speaks the toy protocol, closed by closeAll. */
export function openProvider(baseUrl: string, options: Partial<ProviderOptions> = {}): Provider {
  return closeLater(
    createProvider({
      protocol: toyProtocol,
      baseUrl,
      credentials: { "x-api-key": process.env["PLANTED_KEY"] ?? "" },
      ...options,
    }),
  );
}

export interface TestServer {
  readonly url: string;
  readonly port: number;
  /** Connections so far. */
  connectionCount(): number;
  close(): Promise<void>;
}

export type Respond = (
  request: IncomingMessage & { readonly bytes: Buffer },
  response: ServerResponse,
  index: number,
) => void;

/** Answers when the whole request is here; `index` counts requests from 0. */
export function openHttp(respond: Respond): Promise<TestServer> {
  let count = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      respond(Object.assign(request, { bytes: Buffer.concat(chunks) }), response, count);
      count += 1;
    });
  });
  return open(server);
}

/** A server of bytes: calls `onRequest` for each connection when its first bytes arrive. */
export function openTcp(onRequest: (socket: Socket) => void): Promise<TestServer> {
  return open(createTcpServer((socket) => socket.once("data", () => onRequest(socket))));
}

export function sendEvents(response: ServerResponse, ...events: readonly string[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) response.write(event);
}

async function open(server: Server): Promise<TestServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert(typeof address === "object" && address !== null, "a test server has an address");
  return closeLater({
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    connectionCount: () => connections,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  });
}
