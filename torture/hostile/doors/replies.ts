// What a provider answers: whole replies, refusals, usage, and streams cut into any pieces.
import type { Random } from "../../../harness/random-message.ts";
import { fieldsOf } from "../../../src/core/message/fields.ts";
import type { ProviderFailure } from "../../../src/core/wire/failure.ts";
import type { Protocol, ServerEvent } from "../../../src/core/wire/protocol.ts";
import { protocols } from "../../../src/core/wire/protocols.ts";
import type { Reply } from "../../../src/core/wire/reply.ts";
import { createEventReader } from "../../../src/edge/providers/sse.ts";
import type { OpenDoor, Outcome } from "../door.ts";
import {
  keysIn,
  mutateBytes,
  mutateJson,
  mutateText,
  oddJson,
  oddText,
  pick,
  size,
} from "../mutate.ts";
import { sampleAnswers, type SampleAnswer } from "../samples.ts";

export interface ReplySample extends SampleAnswer {
  readonly wire: Protocol;
  readonly known: readonly string[];
  /** The stream's events as values. */
  readonly events: readonly { readonly name: string | undefined; readonly data: string }[];
}

export async function replySamples(): Promise<readonly ReplySample[]> {
  return (await sampleAnswers()).map((sample) => {
    const wire = protocols.find(({ name }) => name === sample.protocol.name);
    if (wire === undefined) throw new Error(`there is no protocol ${sample.protocol.name}`);
    const events: { name: string | undefined; data: string }[] = [];
    const reader = createEventReader(({ event, data }) => events.push({ name: event, data }));
    reader.feed(Buffer.from(sample.stream));
    const values = events.flatMap(({ data }) => (data.startsWith("{") ? [JSON.parse(data)] : []));
    return { ...sample, wire, events, known: [...keysIn(sample.reply), ...keysIn(values)] };
  });
}

export async function openReplies(): Promise<OpenDoor> {
  const all = await replySamples();
  return { attempt: (random) => answer(random, pick(random, all)) };
}

function answer(random: Random, { wire, reply, known }: ReplySample): Outcome {
  const kind = random();
  const text =
    kind < 0.6
      ? mutateJson(random, reply, known)
      : kind < 0.8
        ? mutateText(random, JSON.stringify(reply))
        : oddJson(random, [...known, "error", "message", "code"]);
  if (random() < 0.7) return judgeReply(wire.decode(text));
  const headers = { "retry-after": oddText(random), "retry-after-ms": oddText(random) };
  const status = pick(random, [400, 401, 403, 404, 408, 409, 413, 429, 500, 503, 529, 0, 999]);
  const failure = wire.readFailure({ status, headers, body: text, nowMs: 0 });
  wire.readUsage(wire.findUsage(fieldsOf(parsed(text))));
  return judgeReply(failure);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

export function judgeReply(result: Reply | ProviderFailure): Outcome {
  if (result.kind === "reply") {
    checkCounts(result);
    return { isAccepted: true, outputs: result.usage.warnings };
  }
  return { isAccepted: false, outputs: [], refusals: [{ code: result.kind, hint: result.detail }] };
}

/** Counts go into the ledger as whole numbers. */
function checkCounts({ usage: { usage } }: Reply): void {
  const { cacheWriteTokens, ...counts } = usage;
  for (const value of [...Object.values(counts), ...Object.values(cacheWriteTokens)]) {
    if (!Number.isSafeInteger(value) || value < 0)
      throw new RangeError(`a count of ${String(value)}`);
  }
}

export async function openStreams(): Promise<OpenDoor> {
  const all = await replySamples();
  return { attempt: (random) => stream(random, pick(random, all)) };
}

function stream(random: Random, sample: ReplySample): Outcome {
  const { wire } = sample;
  let state = wire.stream.start;
  const reader = createEventReader((event: ServerEvent) => {
    [state] = wire.stream.step(state, event);
  });
  const bytes =
    random() < 0.7
      ? Buffer.from(eventText(random, sample))
      : mutateBytes(random, Buffer.from(sample.stream));
  const step = Math.max(size(random, bytes.length), Math.ceil(bytes.length / piecesMax));
  for (let at = 0; at < bytes.length; at += step) reader.feed(bytes.subarray(at, at + step));
  return judgeReply(wire.stream.finish(state));
}

/** A byte at a time is for short streams: a long one would measure the loop. */
const piecesMax = 20_000;

/** The events of a stream: changed, repeated, reordered, dropped, or many of one. */
export function eventText(random: Random, { events, known }: ReplySample): string {
  const made = events.flatMap(({ name, data }) => {
    const kind = random();
    if (kind < 0.75) return [{ name, data }];
    if (kind < 0.8) return [];
    if (kind < 0.85)
      return [
        { name, data },
        { name, data },
      ];
    if (kind < 0.95 && data.startsWith("{"))
      return [{ name, data: mutateJson(random, JSON.parse(data), known) }];
    return [{ name: random() < 0.5 ? name : oddText(random), data: oddJson(random, known) }];
  });
  const again =
    random() < 0.02 ? Array.from({ length: size(random, 20_000) }, () => pick(random, events)) : [];
  const list =
    random() < 0.1 ? [...made, ...again].toSorted(() => random() - 0.5) : [...made, ...again];
  return list
    .map(({ name, data }) => `${name === undefined ? "" : `event: ${name}\n`}data: ${data}\n\n`)
    .join("");
}
