// Exchanges in a few words for the tests of this folder: bodies as clients send them, answers as providers stream them.
import { createObserver, type CallObserver, type ObserverOptions } from "./observer.ts";
import type { ExchangeEnd } from "../exchange.ts";
import type { ObservedCall } from "../observed-call.ts";
import { plantedKey } from "../../../harness/planted-key.ts";

/** 2026-11-16. */
export const startMs = 1_794_787_200_000;

/** A server without a socket, such as a simulator. */
interface Server {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
}

export interface Watching {
  readonly observer: CallObserver;
  /** What the sink was given so far. */
  readonly calls: readonly ObservedCall[];
  /** Passes one exchange; the call if one was given to the sink at once. */
  readonly pass: (exchange: Partial<Exchange>) => ObservedCall | undefined;
  /** The call after the next one that is not given at once, as from a compressed answer. */
  readonly next: () => Promise<ObservedCall>;
  /** Sends a body to a server and passes what it answers. */
  readonly ask: (server: Server, exchange: Partial<Exchange>) => Promise<ObservedCall>;
}

export interface Exchange {
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly upstream: string;
  readonly account: string;
  readonly status: number;
  readonly answerHeaders: Readonly<Record<string, string>>;
  readonly answer: string | Uint8Array;
  /** How many bytes arrive at once. */
  readonly pieceBytes: number;
  readonly how: ExchangeEnd["how"];
  /** Milliseconds after the first exchange of a test. */
  readonly atMs: number;
  readonly tookMs: number;
}

const usual: Exchange = {
  path: "/v1/messages",
  method: "POST",
  headers: {},
  body: {},
  upstream: "anthropic",
  account: "one",
  status: 200,
  answerHeaders: { "content-type": "application/json" },
  answer: "{}",
  pieceBytes: 1_000_000,
  how: "complete",
  atMs: 0,
  tookMs: 1000,
};

// oxlint-disable-next-line max-lines-per-function -- one object with its methods
export function startWatching(options: Partial<ObserverOptions> = {}): Watching {
  const calls: ObservedCall[] = [];
  const waiting: ((call: ObservedCall) => void)[] = [];
  let ids = 0;
  const observer = createObserver({
    nowMs: () => startMs,
    newId: () => `conversation ${(ids += 1)}`,
    ...options,
    sink: {
      take: (call) => {
        calls.push(call);
        waiting.shift()?.(call);
      },
    },
  });
  let exchanges = 0;
  const pass: Watching["pass"] = (given) => {
    const exchange = { ...usual, ...given };
    const before = calls.length;
    exchanges += 1;
    const from = startMs + exchange.atMs;
    const observation = observer.begin({
      id: `exchange ${exchanges}`,
      startMs: from,
      method: exchange.method,
      path: exchange.path,
      headers: { "content-type": "application/json", ...exchange.headers },
      upstream: exchange.upstream,
      account: exchange.account,
    });
    if (observation === null) return undefined;
    observation.requestBody(piecesOf(bytesOf(exchange.body), exchange.pieceBytes));
    if (exchange.how !== "no answer") {
      observation.responseHead(exchange.status, exchange.answerHeaders);
      const answer = bytesOf(exchange.answer);
      for (const piece of piecesOf(answer, exchange.pieceBytes)) observation.responseBytes(piece);
    }
    const firstByteMs = exchange.how === "no answer" ? null : from + Math.min(100, exchange.tookMs);
    observation.end({ how: exchange.how, endMs: from + exchange.tookMs, firstByteMs });
    return calls[before];
  };
  const next = (): Promise<ObservedCall> =>
    new Promise((resolve) => {
      waiting.push(resolve);
    });
  return {
    observer,
    calls,
    pass,
    next,
    ask: async (server, given) => {
      const exchange = { ...usual, ...given };
      const response = await server.fetch(`http://127.0.0.1${exchange.path}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-api-key": plantedKey,
          authorization: `Bearer ${plantedKey}`,
          "anthropic-version": "2023-06-01",
          ...exchange.headers,
        },
        body: new TextDecoder().decode(bytesOf(exchange.body)),
      });
      const arrived = next();
      pass({
        ...given,
        status: response.status,
        answerHeaders: Object.fromEntries(response.headers),
        answer: new Uint8Array(await response.arrayBuffer()),
      });
      return await arrived;
    },
  };
}

function bytesOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  return Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
}

function piecesOf(bytes: Uint8Array, size: number): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}

interface StreamedEvent {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** An event stream as the Messages API writes it: each event with its name. */
export function streamOf(events: readonly StreamedEvent[]): Partial<Exchange> {
  return {
    answerHeaders: { "content-type": "text/event-stream; charset=utf-8" },
    answer: events
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(""),
  };
}

/** An event stream of data alone. */
export function dataOf(events: readonly (object | string)[]): Partial<Exchange> {
  const lines = events.map((event) => (typeof event === "string" ? event : JSON.stringify(event)));
  return {
    answerHeaders: { "content-type": "text/event-stream" },
    answer: lines.map((line) => `data: ${line}\n\n`).join(""),
  };
}

export interface Counts {
  readonly input_tokens?: number;
  readonly cache_read_input_tokens?: number;
  readonly cache_creation_input_tokens?: number;
  readonly cache_creation?: object;
  readonly output_tokens?: number;
}

/** A streamed reply of the Messages API that says `words`. */
export function saidInStream(
  words: readonly string[],
  counts: Counts,
  id = "msg_1",
): Partial<Exchange> {
  const { output_tokens = 10, ...input } = counts;
  return streamOf([
    {
      type: "message_start",
      message: {
        id,
        type: "message",
        role: "assistant",
        model: "claude-sonnet-4-6",
        content: [],
        usage: { ...input, output_tokens: 1 },
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...words.map((text) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text },
    })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens } },
    { type: "message_stop" },
  ]);
}

/** A whole reply of the Messages API. */
export function saidWhole(counts: Counts, id = "msg_1"): Partial<Exchange> {
  const message = {
    id,
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-6",
    content: [{ type: "text", text: "Done." }],
    stop_reason: "end_turn",
    usage: { output_tokens: 10, ...counts },
  };
  return { answer: JSON.stringify(message) };
}

/** Text of so many tokens when counted by length. */
export function textOf(tokens: number, seed = "word"): string {
  const length = Math.floor(tokens * 3.6);
  return `${seed} `.repeat(Math.ceil(length / (seed.length + 1))).slice(0, length);
}

export const marker = { cache_control: { type: "ephemeral" } } as const;

// A coding agent's requests as it spells them.

export type Message = Record<string, unknown>;

export const model = "claude-sonnet-4-6";
export const session = {
  "user-agent": "claude-cli/2.1.325 (external, cli)",
  "x-claude-code-session-id": "s-1",
};
export const rules: string = textOf(3000, "rule");
export const tools: readonly Message[] = ["Bash", "Read", "Edit"].map(toolNamed);

export function toolNamed(name: string): Message {
  return { name, description: `Runs ${name}.`, input_schema: { type: "object" } };
}

/** As Claude Code spells a request: the messages in the middle, three markers, the last of them on the last block. */
export function coded(messages: readonly Message[], more: Message = {}): Partial<Exchange> {
  const [last] = messages.slice(-1);
  const content = typeof last?.["content"] === "string" ? last["content"] : "";
  const marked = { ...last, content: [{ type: "text", text: content, ...marker }] };
  const body = {
    model,
    messages: [...messages.slice(0, -1), marked],
    system: [
      {
        type: "text",
        text: "x-anthropic-billing-header: cc_version=2.1.325.574; cc_entrypoint=cli;",
      },
      { type: "text", text: "You are an agent.", ...marker },
      { type: "text", text: rules, ...marker },
    ],
    tools,
    max_tokens: 32_000,
    metadata: { user_id: '{"device_id":"d","session_id":"s-1"}' },
    stream: true,
    ...more,
  };
  return { path: "/v1/messages?beta=true", headers: session, body };
}

export const opening: Message = { role: "user", content: `Fix the build. ${textOf(500, "log")}` };
export const answer: Message = { role: "assistant", content: "I look at it." };
export const next: Message = { role: "user", content: "Go on." };

export function usage(read: number, written: number, fresh = 3): Counts {
  return {
    input_tokens: fresh,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    output_tokens: 20,
  };
}
