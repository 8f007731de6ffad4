// One random exchange: what the client does, what the upstream does with it, and the fault that is planted in the gateway.
import { gzipSync } from "node:zlib";
import { createRandom, type Random } from "../../harness/random-message.ts";

export const clientKinds = [
  "whole",
  "chunked",
  "large",
  "slow",
  "pipelined",
  "leaves in the request",
  "half a body",
  "leaves in the answer",
  "smuggles",
] as const;

export type ClientKind = (typeof clientKinds)[number];

/** Answers that end as they should. */
export const wholeKinds = [
  "events",
  "JSON",
  "packed events",
  "refusal",
  "no content",
  "gzip bomb",
  "early hints",
  "early refusal",
] as const;

/** The upstream breaks off before a head, or sends none: the client is told so. */
export const noAnswerKinds = [
  "closed",
  "cut head",
  "garbage",
  "endless headers",
  "silent",
] as const;

/** The upstream breaks off within its answer: the client's connection breaks, too. */
export const brokenKinds = ["cut body", "cut chunks", "bad chunk", "stall"] as const;

export type UpstreamKind =
  | (typeof wholeKinds)[number]
  | (typeof noAnswerKinds)[number]
  | (typeof brokenKinds)[number];

/** Steps of the gateway's own that throw. */
export const plantedSteps = [
  "begin",
  "requestBody",
  "responseHead",
  "responseBytes",
  "end",
  "sink",
  "table",
] as const;

export type PlantedStep = (typeof plantedSteps)[number];

export interface Plan {
  readonly number: number;
  readonly client: ClientKind;
  readonly upstream: UpstreamKind;
  /** Null for none. */
  readonly planted: PlantedStep | null;
  /** Where a cut is, from 0 to 1. */
  readonly cutAt: number;
  /** How many bytes are written at once. */
  readonly pieceBytes: number;
  readonly body: Buffer;
  readonly answer: Answer;
}

export interface Answer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** What its provider says that it bills; null if it says nothing. */
  readonly tokens: { readonly input: number; readonly output: number } | null;
}

/** The same for the same seed and number. */
export function planExchange(seed: number, number: number): Plan {
  const random = createRandom(seed * 1_000_003 + number);
  const client = clientOf(random);
  const upstream = upstreamOf(random);
  // A client that stays must not wait for what never comes.
  const kind = upstream === "stall" && client !== "whole" ? "cut body" : upstream;
  const inCycle = number % burstEvery;
  const isBurst = inCycle >= burstFrom && inCycle < burstFrom + burstLength;
  const planted = isBurst || random() < 0.08 ? pick(random, plantedSteps) : null;
  return {
    number,
    client,
    upstream: kind,
    planted: isBurst && planted === "table" ? "begin" : planted,
    cutAt: random(),
    pieceBytes: 1 + Math.floor(random() ** 3 * 20_000),
    body: requestBody(random, number, client === "large" ? 90_000 : 400),
    answer: answerOf(kind, random, number),
  };
}

/** So many exchanges in a row with a fault of the observer make the gateway leave it out for a while. */
const burstEvery = 2500;
const burstFrom = 70;
const burstLength = 12;

function clientOf(random: Random): ClientKind {
  return random() < 0.4 ? "whole" : pick(random, clientKinds);
}

function upstreamOf(random: Random): UpstreamKind {
  if (random() < 0.55) return pick(random, wholeKinds);
  if (random() < 0.5) return pick(random, brokenKinds);
  // Every wait for a silent one takes seconds.
  return random() < 0.03 ? "silent" : pick(random, noAnswerKinds.slice(0, -1));
}

function requestBody(random: Random, number: number, letters: number): Buffer {
  const text = `Question ${number}. ${"grüße ".repeat(Math.ceil((random() * letters) / 6))}`;
  return Buffer.from(
    JSON.stringify({
      model: "claude-sonnet-4-6",
      max_tokens: 100,
      stream: true,
      messages: [{ role: "user", content: text }],
    }),
  );
}

function answerOf(kind: UpstreamKind, random: Random, number: number): Answer {
  const tokens = { input: 10 + number, output: 1 + (number % 97) };
  const events = eventsOf(number, tokens, random);
  const text = [["content-type", "text/event-stream"]] as const;
  switch (kind) {
    case "JSON":
    case "early hints":
      return { status: 200, headers: json, body: replyOf(number, tokens), tokens };
    case "packed events": {
      const headers = [...text, ["content-encoding", "gzip"] as const];
      return { status: 200, headers, body: gzipSync(events), tokens };
    }
    case "gzip bomb": {
      const headers = [...json, ["content-encoding", "gzip"] as const];
      return { status: 200, headers, body: bomb, tokens: null };
    }
    case "refusal":
    case "early refusal": {
      const status = pick(random, [400, 401, 413, 429, 500, 529]);
      const error = { type: "error", error: { type: "api_error", message: `no ${number}` } };
      return { status, headers: json, body: Buffer.from(JSON.stringify(error)), tokens: null };
    }
    case "no content":
      return { status: 204, headers: [], body: Buffer.alloc(0), tokens: null };
    case "events":
    case "closed":
    case "cut head":
    case "garbage":
    case "endless headers":
    case "silent":
    case "cut body":
    case "cut chunks":
    case "bad chunk":
    case "stall":
      return { status: 200, headers: text, body: events, tokens };
  }
}

const json = [["content-type", "application/json"]] as const;
const bomb: Buffer = gzipSync(Buffer.alloc(32 * 1024 * 1024));

type Tokens = NonNullable<Answer["tokens"]>;

function replyOf(number: number, { input, output }: Tokens): Buffer {
  return Buffer.from(
    JSON.stringify({
      id: replyId(number),
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-6",
      content: [{ type: "text", text: "Done." }],
      stop_reason: "end_turn",
      usage: { input_tokens: input, output_tokens: output },
    }),
  );
}

function eventsOf(number: number, { input, output }: Tokens, random: Random): Buffer {
  const message = {
    id: replyId(number),
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-6",
    content: [],
    usage: { input_tokens: input, output_tokens: 1 },
  };
  const words = Array.from({ length: 1 + Math.floor(random() * 30) }, (_, at) => ({
    type: "content_block_delta",
    index: 0,
    delta: { type: "text_delta", text: `word ${at} ` },
  }));
  const events = [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...words,
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn" },
      usage: { output_tokens: output },
    },
    { type: "message_stop" },
  ];
  return Buffer.from(
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
  );
}

function replyId(number: number): string {
  return `msg_${number}`;
}

function pick<T>(random: Random, list: readonly T[]): T {
  const found = list[Math.floor(random() * list.length)];
  if (found === undefined) throw new Error("a list to pick from is not empty");
  return found;
}
