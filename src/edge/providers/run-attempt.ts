// One attempt: sends a request and reads the answer to its end.
import { malformed, type ProviderFailure, endedEarly } from "../../core/wire/failure.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { Clock } from "./clock.ts";
import { openIncoming, readWhole, type Incoming, toCut } from "./incoming.ts";
import type { Redact } from "../../core/events/redact-secrets.ts";
import { redactResult } from "./redact.ts";
import { timedOut, type Timeouts } from "./timeouts.ts";
import type { Answer, Post, Transport } from "./transport.ts";
import { createInnerWatch, type Watch } from "./watch.ts";
import { findStreamForm, type WireEffects } from "./wire-effects.ts";
import { eventsMax, tooManyEvents } from "../../core/wire/limit-events.ts";
import type { Reply, StreamPart } from "../../core/wire/reply.ts";
import type { StreamForm } from "./sse.ts";

/** What every attempt of a provider has in common. */
export interface AttemptContext {
  readonly transport: Transport;
  readonly protocol: Protocol;
  readonly effects: WireEffects;
  readonly timeouts: Timeouts;
  readonly bodyBytesMax: number;
  readonly clock: Clock;
  /** Removes the credentials from a text. */
  readonly redact: Redact;
  /** As in `ProviderOptions`. */
  readonly timesReading: boolean;
}

/** Its watch is that of the whole call. */
export type Ask = Post & Listener;

interface Asked extends Ask {
  readonly startMs: number;
}

export interface AttemptResult extends Read {
  readonly startMs: number;
  /** When the answer's headers came; null if none came. */
  readonly firstByteMs: number | null;
  readonly endMs: number;
  readonly status: number | null;
  /** Headers of the answer, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

export async function runAttempt(own: AttemptContext, ask: Ask): Promise<AttemptResult> {
  const { clock, timeouts } = own;
  const startMs = clock.nowMs();
  const watch = createInnerWatch(clock, ask.watch);
  try {
    watch.begin(timeouts.firstByteMs, timedOut("firstByteMs", timeouts));
    const answer = await own.transport.post({ ...ask, watch });
    const firstByteMs = answer.kind === "answer" ? clock.nowMs() : null;
    const read =
      answer.kind === "answer"
        ? await readAnswer(answer, own, { ...ask, watch, startMs })
        : { outcome: answer, discarded: null };
    const { status, headers } = answer.kind === "answer" ? answer : { status: null, headers: {} };
    const result = { ...read, startMs, firstByteMs, endMs: clock.nowMs(), status, headers };
    return redactResult(result, own.redact);
  } finally {
    watch.end();
  }
}

async function readAnswer(answer: Answer, own: AttemptContext, ask: Asked): Promise<Read> {
  const { status, headers } = answer;
  const { timeouts, bodyBytesMax, clock } = own;
  try {
    if (status >= 300 && status < 400) {
      return fail(malformed(`redirected with status ${status}, and redirects are not followed`));
    }
    const encoding = headers["content-encoding"] ?? "identity";
    if (status < 300 && encoding !== "identity") {
      return fail(malformed(`the answer is compressed (${encoding}), which was not asked for`));
    }
    const incoming = openIncoming(answer.body, { watch: ask.watch, timeouts, bodyBytesMax });
    if (status >= 400) return fail(await readRefusal(answer, incoming, own));
    const form = findStreamForm(headers["content-type"], own.effects);
    if (form !== undefined) {
      let firstPartMs: number | null = null;
      const onPart = (part: StreamPart): void => {
        firstPartMs ??= clock.nowMs();
        ask.onPart(part);
      };
      const { stream } = own.protocol;
      const read = await readStream(incoming, { ...ask, onPart, form, stream });
      const readingMs = firstPartMs === null ? null : firstPartMs - ask.startMs;
      return own.timesReading ? withReadingTime(read, readingMs) : read;
    }
    const { text, failure } = await readWhole(incoming);
    if (failure !== null) return fail(failure);
    const read = decode(text, own);
    if (read.outcome.kind === "reply") ask.onBegin();
    return read;
  } finally {
    answer.release();
  }
}

/** What the server says itself comes first. */
function withReadingTime(read: Read, prefillMs: number | null): Read {
  const { outcome } = read;
  if (prefillMs === null || outcome.kind !== "reply" || outcome.usage.prefillMs !== undefined) {
    return read;
  }
  return { ...read, outcome: { ...outcome, usage: { ...outcome.usage, prefillMs } } };
}

/** Redacts before decoding: a failure may quote only a part of a key, which would not be recognised. */
function decode(text: string, { protocol, redact }: AttemptContext): Read {
  const decoded = protocol.decode(text);
  const outcome = decoded.kind === "reply" ? decoded : protocol.decode(redact(text));
  return { outcome, discarded: null };
}

/** Reads a refusal even if its text was cut: the status alone says much. */
async function readRefusal(
  { status, headers }: Answer,
  incoming: Incoming,
  { protocol, clock, redact }: AttemptContext,
): Promise<ProviderFailure> {
  const { text, failure } = await readWhole(incoming);
  if (failure !== null && failure.kind !== "unreachable") return failure;
  const isReadable = (headers["content-encoding"] ?? "identity") === "identity";
  const body = isReadable ? redact(text) : "";
  return protocol.readFailure({ status, headers, body, nowMs: clock.nowMs() });
}

function fail(outcome: ProviderFailure): Read {
  return { outcome, discarded: null };
}

interface Read {
  readonly outcome: Reply | ProviderFailure;
  /** A reply that failed before any content: useless, but its tokens are billed. */
  readonly discarded: Reply | null;
}

interface Listener {
  /** Called when the first event of a reply arrives. */
  readonly onBegin: () => void;
  readonly onPart: (part: StreamPart) => void;
}

interface StreamReading extends Listener {
  /** How bytes become events, and events a reply. */
  readonly form: StreamForm;
  readonly stream: Protocol["stream"];
  readonly watch: Watch;
}

async function readStream(incoming: Incoming, reading: StreamReading): Promise<Read> {
  const { form, stream, watch, onBegin, onPart } = reading;
  let state = stream.start;
  let eventCount = 0;
  let hasBegun = false;
  let partCount = 0;
  const reader = form((event) => {
    // After a cancel inside onPart no more parts are delivered, even if they have arrived.
    if (watch.stopped() !== null || eventCount > eventsMax) return;
    const [next, parts] = stream.step(state, event);
    state = next;
    eventCount += 1;
    partCount += parts.length;
    if (!hasBegun && stream.finish(state).kind === "reply") {
      hasBegun = true;
      onBegin();
    }
    for (const part of parts) {
      if (watch.stopped() === null) onPart(part);
    }
  });
  for (;;) {
    const arrival = await incoming.next();
    if (arrival.kind === "bytes") reader.feed(arrival.bytes);
    const isFlooded = eventCount > eventsMax;
    if (arrival.kind === "bytes" && !isFlooded) continue;
    const isCut = arrival.kind !== "end";
    const failure = isFlooded
      ? tooManyEvents
      : arrival.kind === "broken"
        ? arrival.failure
        : endedEarly;
    return conclude(stream.finish(state), toCut("stream", failure, incoming), {
      isCut,
      hasEvents: eventCount > 0,
      hasParts: partCount > 0,
    });
  }
}

/** What had arrived when the stream ended. */
interface Seen {
  readonly isCut: boolean;
  readonly hasEvents: boolean;
  readonly hasParts: boolean;
}

/** Combines the protocol's result with the reason for the end. */
function conclude(
  finished: Reply | ProviderFailure,
  ending: ProviderFailure,
  { isCut, hasEvents, hasParts }: Seen,
): Read {
  if (finished.kind !== "reply") {
    // Half an answer looks malformed; the cut is the real cause.
    const isConsequence = !hasEvents || (isCut && finished.kind === "malformed");
    return { outcome: isConsequence ? ending : finished, discarded: null };
  }
  if (finished.status === "complete") return { outcome: finished, discarded: null };
  const failure = finished.failure ?? ending;
  const reply: Reply = { ...finished, failure };
  // Content and usage before the end must not be lost.
  const saysSomething = hasParts && reply.message.content.length > 0;
  return saysSomething || reply.usage.isReported
    ? { outcome: reply, discarded: null }
    : { outcome: failure, discarded: reply };
}
