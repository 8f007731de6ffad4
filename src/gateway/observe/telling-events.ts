// Reads an event stream, and parses only events with more than text: a reply has thousands of the others.
import { createEventReader, type EventReader, type StreamForm } from "../../edge/providers/sse.ts";

/** Longer than any match of a protocol's pattern. */
const overlapLength = 256;

/**
 * Passes on the first event and those that match. Pieces of an event are kept until its end, at most `eventBytesMax`: a
 * longer event is skipped, and `onSkipped` is called.
 */
export function createTellingReader(
  telling: RegExp,
  eventBytesMax: number,
  onSkipped: () => void,
): StreamForm {
  return (onEvent) => {
    const inner = createEventReader(onEvent);
    let pending = nothingPending();
    let isFirst = true;
    return {
      feed: (bytes) => {
        if (bytes.byteLength === 0) return;
        const given = latin1(bytes);
        const window = pending.end === "" ? given : pending.end + given;
        const tells = isFirst || pending.tells || telling.test(window);
        const ended = endOfEvents(window);
        if (ended === -1) {
          hold(pending, bytes, window, tells);
          if (pending.byteLength > eventBytesMax) {
            pending = { ...nothingPending(), isSkipped: true };
            onSkipped();
          }
          return;
        }
        const from = ended - pending.end.length;
        const whole = pending.isSkipped ? [] : pending.pieces;
        const isSkipped = pending.isSkipped;
        pending = nothingPending();
        if (tells && !isSkipped) {
          const events = Buffer.concat([...whole, bytes.subarray(0, from)]);
          isFirst = feedTelling(events, telling, isFirst, inner);
        }
        if (from < bytes.byteLength) {
          const rest = bytes.subarray(from);
          const text = latin1(rest);
          hold(pending, rest, text, isFirst || telling.test(text));
        }
      },
    };
  };
}

/** The beginning of an event that has not ended. */
interface Pending {
  readonly pieces: Uint8Array[];
  byteLength: number;
  /** The last characters, because a match may be cut in two. */
  end: string;
  tells: boolean;
  readonly isSkipped: boolean;
}

function nothingPending(): Pending {
  return { pieces: [], byteLength: 0, end: "", tells: false, isSkipped: false };
}

function hold(pending: Pending, bytes: Uint8Array, window: string, tells: boolean): void {
  pending.end = window.slice(-overlapLength);
  pending.tells = tells;
  if (pending.isSkipped) return;
  pending.pieces.push(bytes);
  pending.byteLength += bytes.byteLength;
}

/** Takes whole events, at least one of which may matter. Returns whether the first one is still to come. */
function feedTelling(
  events: Buffer,
  telling: RegExp,
  isFirst: boolean,
  inner: EventReader,
): boolean {
  const text = events.toString("latin1");
  let start = 0;
  let isNext = isFirst;
  for (const { index, 0: end } of text.matchAll(blankLines)) {
    const next = index + end.length;
    const event = text.slice(start, next);
    if (isNext || telling.test(event)) inner.feed(events.subarray(start, next));
    // A comment is no event.
    isNext &&= !/^data/m.test(event);
    start = next;
  }
  return isNext;
}

/** A blank line ends an event. */
const blankLines = /\r?\n\r?\n|\r\r/g;

/** The index after the last blank line; -1 for none. */
function endOfEvents(text: string): number {
  if (!text.includes("\r")) {
    const at = text.lastIndexOf("\n\n");
    return at === -1 ? -1 : at + 2;
  }
  let ended = -1;
  for (const { index, 0: end } of text.matchAll(blankLines)) ended = index + end.length;
  return ended;
}

/** Patterns are ASCII, so bytes serve as characters. */
function latin1(bytes: Uint8Array): string {
  const buffer = Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString("latin1");
}
