// Reads an event stream into a reply, or into a partial reply.
import { endedEarly, type ProviderFailure } from "../../core/wire/failure.ts";
import { eventsMax, tooManyEvents } from "../../core/wire/limit-events.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { Reply, StreamPart } from "../../core/wire/reply.ts";
import { toCut, type Incoming } from "./incoming.ts";
import type { StreamForm } from "./sse.ts";
import type { Watch } from "./watch.ts";

export interface Read {
  readonly outcome: Reply | ProviderFailure;
  /** A reply that failed before any content: useless, but its tokens are billed. */
  readonly discarded: Reply | null;
}

export interface Listener {
  /** Called when the first event of a reply arrives. */
  readonly onBegin: () => void;
  readonly onPart: (part: StreamPart) => void;
}

export interface StreamReading extends Listener {
  /** How bytes become events, and events a reply. */
  readonly form: StreamForm;
  readonly stream: Protocol["stream"];
  readonly watch: Watch;
}

export async function readStream(incoming: Incoming, reading: StreamReading): Promise<Read> {
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
