// Encoding and decoding in every protocol: the cost of a new message must not depend on how many came before it.
import { EventStreamCodec } from "@smithy/core/event-streams";
import { createConversation } from "../harness/conversation.ts";
import { cpuMsOf } from "../harness/measure.ts";
import { decodeEvents, eventsIn, type RawAnswer } from "../harness/raw-answer.ts";
import { atMost, type Check, type Experiment, type Figure } from "../harness/report.ts";
import {
  courseWires,
  makeCall,
  openCourse,
  prepare,
  startMs,
  type PreparedCall,
  type CourseWire,
} from "../harness/wire-course.ts";
import { openCacheState, type CacheState } from "../src/core/cache/cache-state.ts";
import { learnFromReply } from "../src/core/cache/learn-from-reply.ts";
import { resolveModel } from "../src/core/models/resolve-model.ts";
import type { Message } from "../src/core/message/message.ts";
import type { ToolDefinition } from "../src/core/message/tool-definition.ts";
import { bodyText } from "../src/core/wire/encoded-request.ts";
import { readRequest } from "../src/core/wire/foreign/read-request.ts";
import type { ServerEvent } from "../src/core/wire/protocol.ts";
import { isFrames } from "../src/edge/providers/bedrock/frames.ts";

const few = 100;
const many = 10_000;
const newPerCall = 4;
const rounds = 60;
const callsPerRound = 40;
const tools: readonly ToolDefinition[] = [
  { name: "Edit", description: "Edits a file.", inputSchemaJson: '{"type":"object"}' },
];

export const experiment: Experiment = {
  summary: "encoding, reading and stream decoding per new message in every protocol, 100 to 10,000",
  async run({ progress }) {
    const figures: Record<string, Figure> = {};
    const checks: Check[] = [];
    for (const wire of courseWires) {
      const { name } = wire.protocol;
      progress(name);
      const times = { ...encoding(wire), ...reading(wire), ...(await streaming(wire)) };
      for (const [what, ms] of Object.entries(times)) figures[`${name}: ${what} ms`] = ms;
      // A whole request of ten megabytes is read more slowly than a small one: a figure without a limit.
      figures[`${name}: growth of reading a request`] =
        times[`read at ${many}`] / times[`read at ${few}`];
      const growth = (what: "encode" | "stream"): number =>
        times[`${what} at ${many}`] / times[`${what} at ${few}`];
      checks.push(
        atMost(`${name}: growth of encoding`, growth("encode"), 1.3),
        atMost(`${name}: growth of decoding a stream`, growth("stream"), 1.3),
        atMost(
          `${name}: stream decode x split and JSON.parse`,
          times[`stream at ${many}`] / times["split and parse"],
          2,
        ),
      );
    }
    return { figures, checks };
  },
};

type Times<What extends string> = Record<`${What} at ${typeof few | typeof many}`, number>;

/** One call of a growing session: four new messages are assembled, planned and encoded. */
function encoding(wire: CourseWire): Times<"encode"> {
  const openAt = (size: number): (() => void) => {
    const course = openCourse(wire, "Be brief.", tools);
    let state = openCacheState();
    const make = (messages: readonly Message[]): void => {
      const call = prepare(course, messages, state);
      call.encode(true);
      state = stateAfter(wire, call, state);
      course.thread = call.assembly.thread;
    };
    make(createConversation(size, size));
    const fresh = createConversation(newPerCall * callsPerRound, size + 1);
    return () => {
      for (let at = 0; at < fresh.length; at += newPerCall) make(fresh.slice(at, at + newPerCall));
    };
  };
  const [left, right] = alternate(openAt(few), openAt(many));
  return {
    [`encode at ${few}`]: left / callsPerRound,
    [`encode at ${many}`]: right / callsPerRound,
  };
}

/** What a session knows after a call that was billed as planned. */
function stateAfter(
  { modelId }: CourseWire,
  { assembly, plan }: PreparedCall,
  state: CacheState,
): CacheState {
  const { readTokens, writeTokens, uncachedTokens } = plan.expected;
  return learnFromReply({
    state,
    plan,
    blocks: assembly.blocks,
    rules: resolveModel(modelId).facts.cache,
    usage: {
      uncachedTokens,
      cacheReadTokens: readTokens,
      cacheWriteTokens: writeTokens,
      outputTokens: 200,
      reasoningTokens: 0,
    },
    reportsCache: true,
    startMs,
  }).state;
}

/** A whole request of another client, per message. */
function reading(wire: CourseWire): Times<"read"> {
  const { thread } = openCourse(wire, "Be brief.", tools);
  const readAt = (size: number): (() => void) => {
    const messages: readonly Message[] = createConversation(size, size);
    const { path, headers, pieces } = prepare({ wire, thread }, messages).encode(true);
    const text = bodyText(pieces);
    return () => {
      for (let done = 0; done < many; done += size) {
        readRequest(text, { address: { path, headers }, protocol: wire.protocol });
      }
    };
  };
  const [left, right] = alternate(readAt(few), readAt(many));
  return { [`read at ${few}`]: left / many, [`read at ${many}`]: right / many };
}

/** A long reply, per event: its frames are read as they came, and its events decoded. */
async function streaming(
  wire: CourseWire,
): Promise<Times<"stream"> & { "split and parse": number }> {
  const { protocol } = wire;
  const raw = await longReply(wire);
  const sent = eventsIn(protocol, raw) ?? [];
  const [short, long] = [stretch(sent, few), stretch(sent, many)];
  const lines = toLines(long);
  const frames = isFrames(raw.headers["content-type"] ?? "") ? framesIn(raw.bytes) : null;
  const [left, right, feed, plain] = alternate(
    () => repeat(many / few, () => void decodeEvents(protocol, short)),
    () => void decodeEvents(protocol, long),
    () => repeat(Math.ceil(many / sent.length), () => void eventsIn(protocol, raw)),
    () => void (frames === null ? splitAndParse(lines) : decodeAndParse(frames, many)),
  );
  const framing = feed / (sent.length * Math.ceil(many / sent.length));
  return {
    [`stream at ${few}`]: framing + left / (short.length * (many / few)),
    [`stream at ${many}`]: framing + right / long.length,
    "split and parse": plain / (frames === null ? long.length : many),
  };
}

async function longReply(wire: CourseWire): Promise<RawAnswer> {
  const course = openCourse(wire, "Be brief.", tools);
  course.next = { parts: [{ kind: "text", text: "some words ".repeat(17) }], stop: "end" };
  return (await makeCall(course, createConversation(1, 1))).streamed;
}

/** The same stream with its deltas repeated, until it has so many events. */
function stretch(events: readonly ServerEvent[], size: number): readonly ServerEvent[] {
  const runs = Map.groupBy(events, ({ data }) => shapeOf(data));
  const deltas = [...runs.values()].toSorted((left, right) => right.length - left.length)[0] ?? [];
  const [first] = deltas;
  if (first === undefined || deltas.length < 3) throw new Error("the stream has no deltas");
  const at = events.indexOf(first);
  const more = Array.from(
    { length: size - events.length },
    (_, index) => deltas[index % deltas.length] ?? first,
  );
  return [...events.slice(0, at), ...more, ...events.slice(at)];
}

/** The JSON without its values. */
function shapeOf(data: string): string {
  return data.replaceAll(/"(?:[^"\\]|\\.)*"(?=[,}\]])|\d+/g, "");
}

function toLines(events: readonly ServerEvent[]): Uint8Array {
  return new TextEncoder().encode(events.map(({ data }) => `data: ${data}\n\n`).join(""));
}

function splitAndParse(bytes: Uint8Array): number {
  let parsed = 0;
  for (const line of new TextDecoder().decode(bytes).split("\n")) {
    if (!line.startsWith("data: {")) continue;
    JSON.parse(line.slice(6));
    parsed += 1;
  }
  return parsed;
}

/** The frames of an answer, each alone. */
function framesIn(bytes: Uint8Array): readonly Uint8Array[] {
  const frames: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(0);
    frames.push(bytes.subarray(at, at + length));
    at += length;
  }
  return frames;
}

/** Splitting of a wire without lines: AWS's own decoder of frames, and the JSON in them. */
function decodeAndParse(frames: readonly Uint8Array[], count: number): void {
  const codec = new EventStreamCodec(
    (bytes) => Buffer.from(bytes).toString(),
    (text) => Buffer.from(text),
  );
  for (let done = 0; done < count; done += 1) {
    const { body } = codec.decode(frames[done % frames.length] ?? new Uint8Array());
    const { bytes } = JSON.parse(Buffer.from(body).toString()) as { readonly bytes?: string };
    if (bytes !== undefined) JSON.parse(Buffer.from(bytes, "base64").toString());
  }
}

function repeat(times: number, work: () => void): void {
  for (let time = 0; time < times; time += 1) work();
}

/**
 * CPU milliseconds of each, in turn, so that all see the same machine. The system counts them in steps of a few, so single
 * rounds are too short: their sum counts.
 */
function alternate<Work extends readonly (() => void)[]>(
  ...work: Work
): { [Index in keyof Work]: number } {
  const samples = work.map((): number[] => []);
  for (let round = -2; round < rounds; round += 1) {
    for (const [index, each] of work.entries()) {
      const ms = cpuMsOf(each);
      if (round >= 0) samples[index]?.push(ms);
    }
  }
  return samples.map(mean) as { [Index in keyof Work]: number };
}

function mean(samples: readonly number[]): number {
  return samples.reduce((sum, ms) => sum + ms, 0) / samples.length;
}
