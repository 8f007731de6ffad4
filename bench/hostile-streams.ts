// Floods of events in a streamed reply. The cost of an event must not depend on how many came before it.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { atMost, type Check, type Experiment } from "../harness/report.ts";
import { anthropicMessages } from "../src/core/wire/anthropic-messages/index.ts";
import { toRequest } from "../src/core/wire/encoded-request.ts";
import { openaiChat } from "../src/core/wire/openai/chat/index.ts";
import { openaiResponses } from "../src/core/wire/openai/responses/index.ts";
import type { Protocol } from "../src/core/wire/protocol.ts";
import { readReply } from "../src/engine/own-loop/read-reply.ts";
import { createEventReader } from "../src/edge/providers/sse.ts";
import { createProvider } from "../src/edge/providers/provider.ts";

const few = 1_000;
const many = 50_000;
const rounds = 7;
/** Shorter work is repeated until it takes so long. */
const leastMs = 100;

/** The events of one kind of flood: what comes before it, and its event number n. */
interface Flood {
  readonly begin: readonly object[];
  event(number: number): object;
}

type Floods = Readonly<Record<string, Flood>>;

const messageStart = { type: "message_start", message: { id: "m", usage: { input_tokens: 1 } } };

function messagesBlock(index: number, content_block: object): object {
  return { type: "content_block_start", index, content_block };
}

function messagesDelta(delta: object): object {
  return { type: "content_block_delta", index: 0, delta };
}

const toolUse = { type: "tool_use", id: "tu", name: "look", input: {} };

const messages: Floods = {
  "block starts": {
    begin: [messageStart],
    event: (index) => messagesBlock(index, { ...toolUse, id: `tu_${index}` }),
  },
  deltas: {
    begin: [messageStart, messagesBlock(0, { type: "text", text: "" })],
    event: () => messagesDelta({ type: "text_delta", text: "word " }),
  },
  "usage keys": {
    begin: [messageStart],
    event: (index) => ({ type: "message_delta", delta: {}, usage: { [`key_${index}`]: index } }),
  },
  "tool-use argument pieces": {
    begin: [messageStart, messagesBlock(0, toolUse)],
    event: (index) =>
      messagesDelta({ type: "input_json_delta", partial_json: index === 0 ? '{"a":"' : "x" }),
  },
  pings: { begin: [messageStart], event: () => ({ type: "ping" }) },
  "unknown events": {
    begin: [messageStart],
    event: (index) => ({ type: `event_${index}`, [`member_${index}`]: index }),
  },
};

function chunk(delta: object, more: object = {}): object {
  return { id: "c", choices: [{ index: 0, delta }], ...more };
}

const chat: Floods = {
  "block starts": {
    begin: [chunk({ role: "assistant" })],
    event: (index) =>
      chunk({ tool_calls: [{ index, id: `c_${index}`, function: { name: "look" } }] }),
  },
  deltas: { begin: [], event: () => chunk({ content: "word " }) },
  "usage keys": {
    begin: [chunk({ role: "assistant" })],
    event: (index) => chunk({}, { usage: { [`key_${index}`]: index } }),
  },
  "tool-use argument pieces": {
    begin: [chunk({ tool_calls: [{ index: 0, id: "c", function: { name: "look" } }] })],
    event: () => chunk({ tool_calls: [{ index: 0, function: { arguments: "x" } }] }),
  },
  pings: { begin: [chunk({ role: "assistant" })], event: () => ({ choices: [] }) },
  "unknown events": {
    begin: [chunk({ role: "assistant" })],
    event: (index) => ({ [`member_${index}`]: index }),
  },
};

const created = { type: "response.created", response: { id: "r", status: "in_progress" } };

function itemAdded(output_index: number, item: object): object {
  return { type: "response.output_item.added", output_index, item };
}

const call = { type: "function_call", call_id: "c", name: "look", arguments: "" };

const responses: Floods = {
  "block starts": {
    begin: [created],
    event: (index) => itemAdded(index, { ...call, call_id: `c_${index}` }),
  },
  deltas: {
    begin: [created, itemAdded(0, { type: "message", role: "assistant", content: [] })],
    event: () => ({ type: "response.output_text.delta", output_index: 0, delta: "word " }),
  },
  "usage keys": {
    begin: [created],
    event: (index) => ({
      type: "response.in_progress",
      response: { id: "r", usage: { [`key_${index}`]: index } },
    }),
  },
  "tool-use argument pieces": {
    begin: [created, itemAdded(0, call)],
    event: () => ({
      type: "response.function_call_arguments.delta",
      output_index: 0,
      delta: "x",
    }),
  },
  pings: { begin: [created], event: () => ({ type: "keepalive" }) },
  "unknown events": {
    begin: [created],
    event: (index) => ({ type: `response.event_${index}`, [`member_${index}`]: index }),
  },
};

const wires: readonly (readonly [Protocol, Floods])[] = [
  [anthropicMessages, messages],
  [openaiChat, chat],
  [openaiResponses, responses],
];

/** Reads one stream; `from` is the number of its first event. */
type Read = (from: number, count: number) => unknown;

export const experiment: Experiment = {
  summary: `floods of ${many} events in a reply, against ${few}: the cost of one event`,
  async run({ progress }) {
    const figures: Record<string, number> = {};
    const checks: Check[] = [];
    const measure = async (name: string, read: Read): Promise<void> => {
      progress(name);
      const [fewMs, manyMs] = [[], []] as [number[], number[]];
      await readFew(read);
      const times = Math.ceil(leastMs / (await cpuMsOf(() => read(0, many), 1)));
      for (let round = 0; round < rounds; round += 1) {
        fewMs.push(await cpuMsOf(() => readFew(read), times));
        manyMs.push(await cpuMsOf(() => read(0, many), times));
      }
      // The cheapest run is the one that other work of the machine disturbed least.
      figures[`${name}: ${many} events ms`] = Math.min(...manyMs);
      const growth = Math.min(...manyMs) / Math.min(...fewMs);
      checks.push(atMost(`growth per event, ${name}`, growth, 1.3));
    };
    for (const [protocol, floods] of wires) {
      for (const [kind, flood] of Object.entries(floods)) {
        const events = textsOf(flood);
        await measure(`${protocol.title}, ${kind}`, (from, count) =>
          decode(protocol, cut(events, from, count)),
        );
      }
      const events = objectsOf(floods["block starts"]);
      await measure(`${protocol.title}, an SDK's objects`, (from, count) =>
        readReply(inTurn(cut(events, from, count)), { protocol, nowMs: () => 0 }),
      );
    }
    await measure("a long line in small chunks", (_from, count) => readLongLine(count));
    await overHttp(measure);
    return { figures, checks };
  },
};

/** CPU time of one run, measured over several. */
async function cpuMsOf(work: () => unknown, times: number): Promise<number> {
  const start = process.cpuUsage();
  for (let time = 0; time < times; time += 1) await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000 / times;
}

/** The same events as in the long run, in streams of few: only their number differs. */
async function readFew(read: Read): Promise<void> {
  for (let from = 0; from < many; from += few) await read(from, few);
}

interface Events<Event> {
  readonly begin: readonly Event[];
  readonly flood: readonly Event[];
}

function objectsOf(flood: Flood | undefined): Events<object> {
  if (flood === undefined) return { begin: [], flood: [] };
  return {
    begin: flood.begin,
    flood: Array.from({ length: many }, (_, index) => flood.event(index)),
  };
}

function textsOf(given: Flood | undefined): Events<string> {
  const { begin, flood } = objectsOf(given);
  return { begin: begin.map(toText), flood: flood.map(toText) };
}

function toText(event: object): string {
  return JSON.stringify(event);
}

function cut<Event>({ begin, flood }: Events<Event>, from: number, count: number): Event[] {
  return [...begin, ...flood.slice(from, from + count)];
}

function decode({ stream }: Protocol, events: readonly string[]): unknown {
  let state = stream.start;
  for (const data of events) [state] = stream.step(state, { event: undefined, data });
  return stream.finish(state);
}

async function* inTurn(events: readonly object[]): AsyncGenerator<object> {
  yield* events;
}

/** One event whose line comes byte by byte. */
function readLongLine(bytes: number): void {
  const line = new TextEncoder().encode(`data: "${"x".repeat(bytes)}"\n\n`);
  const reader = createEventReader(() => {});
  for (let at = 0; at < line.length; at += 1) reader.feed(line.subarray(at, at + 1));
}

/** The whole way: sockets, server-sent events, decoder, parts, the reply. */
async function overHttp(measure: (name: string, read: Read) => Promise<void>): Promise<void> {
  const floods = new Map(
    wires.map(([protocol, { deltas }]) => [pathOf(protocol), textsOf(deltas)]),
  );
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
    const events = floods.get(pathname);
    const count = Number(searchParams.get("events"));
    response.writeHead(200, { "content-type": "text/event-stream" });
    const sent = events === undefined ? [] : cut(events, 0, count);
    response.end(sent.map((data) => `data: ${data}\n\n`).join(""));
  });
  const baseUrl = await listen(server);
  try {
    for (const [protocol] of wires) {
      const provider = createProvider({ protocol, baseUrl, credentials: {} });
      await measure(`${protocol.title}, over HTTP`, (_from, count) => {
        const path = `${pathOf(protocol)}?events=${count}`;
        const request = toRequest({ path, parts: ["{}"] });
        return provider.send({ request, stream: true, onPart: () => {} });
      });
      await provider.close();
    }
  } finally {
    server.close();
  }
}

function pathOf(protocol: Protocol): string {
  return protocol.path({ model: "", stream: true });
}

async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}
