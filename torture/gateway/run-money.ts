// Conversations on every protocol at once, through a real gateway to a simulator each. One call after the other on each
// protocol, so that its bill is the simulator's latest.
import { costOfBill } from "../../harness/cost-of-bill.ts";
import { plantedKey } from "../../harness/planted-key.ts";
import { createRandom, type Random } from "../../harness/random-message.ts";
import { courseWires, openCourse, prepare, type CourseWire } from "../../harness/wire-course.ts";
import { appendMessages } from "../../src/core/assembly/thread.ts";
import type { Message } from "../../src/core/message/message.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import { toEndpoint } from "../../src/core/wire/access.ts";
import { bodyText } from "../../src/core/wire/encoded-request.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { openGateway, type Gateway } from "../../src/gateway/open-gateway.ts";
import { toUpstreamTable } from "../../src/gateway/upstreams/configured.ts";
import type { Call } from "../../src/simulator/call-ledger.ts";
import { createSimulator, type Simulator } from "../../src/simulator/simulator.ts";
import { conversationsIn } from "./billed-tokens.ts";

export interface MoneyOptions {
  readonly store: string;
  readonly calls: number;
  readonly seed: number;
  readonly progress: (line: string) => void;
}

/** One protocol. Costs in pico-dollars, of calls that completed. */
export interface Lane {
  readonly name: string;
  sent: number;
  streamed: number;
  aborted: number;
  failed: number;
  threaded: number;
  readonly owed: bigint[];
  /** Of calls that completed at the gateway, perhaps, when their client had left or their connection broke. */
  readonly left: bigint[];
  readonly recorded: bigint[];
  /** How many are in the ledger. */
  calls: number;
}

export interface MoneyRun {
  readonly lanes: readonly Lane[];
  readonly lostCount: number;
}

export async function runMoney({ store, calls, seed, progress }: MoneyOptions): Promise<MoneyRun> {
  const providers = await Promise.all(courseWires.map((wire) => openProvider(wire, seed)));
  const gateway = await openGateway({
    store,
    env: {},
    table: toUpstreamTable(
      new Map(
        providers.map(({ wire, url }) => [
          wire.protocol.name,
          { baseUrl: url, protocol: wire.protocol.access.kind, headers: new Map() },
        ]),
      ),
    ),
  });
  const callsEach = Math.ceil(calls / providers.length);
  try {
    await Promise.all(
      providers.map((provider) => playLane(provider, { gateway, callsEach, seed, progress })),
    );
  } finally {
    await gateway.close(10_000);
    await Promise.all(providers.map((provider) => provider.close()));
  }
  await readCosts(store, new Map(providers.map(({ lane }) => [lane.name, lane])));
  return { lanes: providers.map(({ lane }) => lane), lostCount: gateway.stats().lostCount };
}

interface Provider {
  readonly wire: CourseWire;
  readonly lane: Lane;
  readonly simulator: Simulator;
  readonly url: string;
  /** What the model says next. */
  answer: string;
  /** The simulator's record of the next call, when it is over. */
  nextCall(): Promise<Call>;
  close(): Promise<void>;
}

async function openProvider(wire: CourseWire, seed: number): Promise<Provider> {
  const over: Call[] = [];
  let wake: (() => void) | null = null;
  const simulator = createSimulator({
    seed,
    callsMax: 10,
    model: () => ({ parts: [{ kind: "text", text: provider.answer }], stop: "end" }),
    faults: [{ kind: "random", probability: 0.08, seed, of: retriable }],
    onCall: (call) => {
      over.push(call);
      wake?.();
    },
  });
  const server = await simulator.listen();
  const { name, access } = wire.protocol;
  const provider: Provider = {
    wire,
    simulator,
    lane: {
      name,
      sent: 0,
      streamed: 0,
      aborted: 0,
      failed: 0,
      threaded: 0,
      owed: [],
      left: [],
      recorded: [],
      calls: 0,
    },
    url: `${server.url}${new URL(access.baseUrl).pathname.replace(/\/$/, "")}`,
    answer: "",
    nextCall: async () => {
      for (;;) {
        const call = over.shift();
        if (call !== undefined) return call;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    close: () => server.close(),
  };
  return provider;
}

const retriable = [
  { kind: "rate limited", retryAfterSeconds: 1 },
  { kind: "server error" },
  { kind: "overloaded" },
  { kind: "cut", afterEvents: 2 },
] as const;

interface Playing {
  readonly gateway: Gateway;
  readonly callsEach: number;
  readonly seed: number;
  readonly progress: (line: string) => void;
}

async function playLane(provider: Provider, playing: Playing): Promise<void> {
  const { lane } = provider;
  const random = createRandom(playing.seed);
  for (let conversation = 0; lane.sent < playing.callsEach; conversation += 1) {
    await playConversation(provider, playing, random, conversation);
    const { sent, name } = lane;
    if (conversation % 200 === 199) playing.progress(`${name}: ${sent} of ${playing.callsEach}`);
  }
}

/** Every conversation has a text of its own at the beginning, long enough to be cached. */
async function playConversation(
  provider: Provider,
  { gateway }: Playing,
  random: Random,
  number: number,
): Promise<void> {
  const { wire, lane } = provider;
  const words = (count: number): string => `word ${number} `.repeat(count);
  const course = openCourse(wire, random() < 0.7 ? words(500) : "Answer.", []);
  const isThreaded = random() < 0.3;
  let [current, goesOnFrom]: [readonly Message[], string | null] = [[user(words(9))], null];
  for (let turn = 0; turn < 1 + Math.floor(random() * 6); turn += 1) {
    provider.answer = `Answer ${turn}. ${words(1 + Math.floor(random() * 8))}`;
    const call = prepare(course, current);
    const isStream = random() < 0.6;
    const encoded = call.encode(isStream);
    const whole = bodyText(encoded.pieces);
    const threaded = isThreaded ? toThreaded(lane.name, whole, goesOnFrom) : null;
    if (threaded !== null && goesOnFrom !== null) lane.threaded += 1;
    const path = `/u/${lane.name}${encoded.path}`;
    const { credentials } = toEndpoint(wire.protocol.access, { apiKey: plantedKey });
    const request = {
      url: `${gateway.urls[0]}${path}`,
      headers: {
        ...encoded.headers,
        ...credentials,
        ...threaded?.headers,
        "content-type": "application/json",
      },
      body: threaded?.body ?? whole,
      isStream,
      leaves: random() < 0.08,
    };
    const said = await sendUntilAnswered(provider, request);
    if (said === null) return;
    goesOnFrom = /"id":\s*"((?:resp|msg)_[^"]+)"/.exec(said)?.[1] ?? null;
    const reply: Message = {
      role: "assistant",
      content: [{ type: "text", text: provider.answer }],
    };
    course.thread = appendMessages(call.assembly.thread, [reply]);
    current = [user(`Go on ${turn}. ${words(3)}`)];
  }
}

function user(text: string): Message {
  return { role: "user", content: [{ type: "text", text }] };
}

interface Threaded {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The request as one that goes on from a kept reply; null on a protocol without such. */
function toThreaded(protocol: string, whole: string, goesOnFrom: string | null): Threaded | null {
  const body = JSON.parse(whole) as Record<string, unknown>;
  const make = threadings[protocol];
  return make === undefined ? null : make(body, goesOnFrom);
}

const threadings: Readonly<
  Record<string, (body: Record<string, unknown>, goesOnFrom: string | null) => Threaded>
> = {
  "openai-responses": (body, goesOnFrom) => {
    const { input } = body;
    const more =
      goesOnFrom === null ? {} : { previous_response_id: goesOnFrom, input: latestOf(input) };
    return { body: JSON.stringify({ ...body, ...more, store: true }), headers: {} };
  },
  "anthropic-messages": ({ system, tools, ...body }, goesOnFrom) => {
    const headers = { "anthropic-beta": "message-threads-2026-08-12" };
    if (goesOnFrom === null) {
      const whole = { ...body, system, tools, thread: { type: "create" } };
      return { body: JSON.stringify(whole), headers };
    }
    const thread = { type: "continue", previous_message_id: goesOnFrom };
    return {
      body: JSON.stringify({ ...body, messages: latestOf(body["messages"]), thread }),
      headers,
    };
  },
};

function latestOf(list: unknown): unknown {
  return Array.isArray(list) ? list.slice(-1) : list;
}

interface Sending {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isStream: boolean;
  /** In the middle of the answer. */
  readonly leaves: boolean;
}

const triesMax = 6;

/** The answer that completed; null if the client left, or gave up. */
async function sendUntilAnswered(provider: Provider, request: Sending): Promise<string | null> {
  const { lane, wire } = provider;
  const { facts } = resolveModel(wire.modelId);
  for (let tries = 0; tries < triesMax; tries += 1) {
    lane.sent += 1;
    if (request.isStream) lane.streamed += 1;
    const said = await send(request);
    const call = await provider.nextCall();
    if (call.outcome === "answered" && call.fault === null && call.status === 200) {
      (said === null ? lane.left : lane.owed).push(costOfBill(call, facts, call.startMs));
      if (said === null) lane.aborted += 1;
      return said;
    }
    // The reply may have said its end before its connection broke: then it is complete, and its bill is due.
    if (call.billed !== null) lane.left.push(costOfBill(call, facts, call.startMs));
    if (request.leaves && said === null) {
      lane.aborted += 1;
      return null;
    }
    lane.failed += 1;
  }
  return null;
}

/** Null for an answer without its end. */
async function send({ url, headers, body, leaves }: Sending): Promise<string | null> {
  const leaving = new AbortController();
  try {
    const response = await fetch(url, { method: "POST", headers, body, signal: leaving.signal });
    if (response.body === null) return "";
    const pieces: Uint8Array[] = [];
    for await (const piece of response.body) {
      if (leaves) {
        leaving.abort();
        return null;
      }
      pieces.push(piece);
    }
    return Buffer.concat(pieces).toString("latin1");
  } catch {
    return null;
  }
}

async function readCosts(store: string, lanes: ReadonlyMap<string, Lane>): Promise<void> {
  const ledger = await openLedger(store);
  try {
    for await (const id of conversationsIn(ledger)) {
      for (const call of await ledger.readGatewayCalls(id)) {
        const lane = lanes.get(call.upstream);
        if (lane === undefined) throw new Error(`${call.upstream} was not played`);
        lane.calls += 1;
        if (call.status === "complete") lane.recorded.push(call.costPicoUsd ?? -1n);
      }
    }
  } finally {
    await ledger.close();
  }
}
