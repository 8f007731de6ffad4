// The latest events as bytes to send, shared by all who follow them. What a reader has not taken from here is not kept for it.
import type { LiveEvent } from "../shapes/event-shape.ts";

export interface Frame {
  readonly position: number;
  readonly type: string;
  readonly session: string;
  readonly bytes: Buffer;
}

export interface FrameRing {
  /** Every later event is here. */
  readonly from: number;
  /** The last position that was read, whether or not an event is kept there. */
  readonly to: number;
  add(events: readonly LiveEvent[], to: number): void;
  /** After a position, not more bytes than fit one write; at least one frame if there is one. Null if there is none. */
  after(position: number): FrameBatch | null;
}

/** The same one for all readers at a position: what a thousand of them wait for is in memory once. */
export interface FrameBatch {
  readonly frames: readonly Frame[];
  readonly bytes: Buffer;
}

export interface RingLimits {
  readonly framesMax: number;
  readonly bytesMax: number;
}

const bytesPerWrite = 32_768;
const batchesMax = 16;

/** Begins empty, after a position. */
export function createFrameRing(start: number, limits: RingLimits): FrameRing {
  let frames: Frame[] = [];
  let bytes = 0;
  let [from, to] = [start, start];
  const batches = new Map<number, FrameBatch>();
  return {
    get from() {
      return from;
    },
    get to() {
      return to;
    },
    add: (events, upTo) => {
      if (events.length > 0) batches.clear();
      for (const event of events) {
        const frame = toFrame(event);
        frames.push(frame);
        bytes += frame.bytes.length;
      }
      to = Math.max(to, upTo);
      let dropped = 0;
      for (; frames.length - dropped > limits.framesMax || bytes > limits.bytesMax; dropped += 1) {
        const frame = frames[dropped];
        if (frame === undefined) break;
        bytes -= frame.bytes.length;
        from = frame.position;
      }
      if (dropped > 0) frames = frames.slice(dropped);
    },
    after: (position) => {
      const known = batches.get(position);
      if (known !== undefined) return known;
      let first = placeAfter(frames, position);
      const found: Frame[] = [];
      for (let size = 0; first < frames.length; first += 1) {
        const frame = frames[first];
        if (frame === undefined) break;
        size += frame.bytes.length;
        if (found.length > 0 && size > bytesPerWrite) break;
        found.push(frame);
      }
      if (found.length === 0) return null;
      const batch = { frames: found, bytes: Buffer.concat(found.map((frame) => frame.bytes)) };
      // Readers that stand elsewhere are few, and make their own.
      if (batches.size < batchesMax) batches.set(position, batch);
      return batch;
    },
  };
}

/** The first frame after a position, by halves. */
function placeAfter(frames: readonly Frame[], position: number): number {
  let [low, high] = [0, frames.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((frames[middle]?.position ?? 0) > position) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function toFrame(event: LiveEvent): Frame {
  const { position, type, session } = event;
  const bytes = Buffer.from(`id: ${position}\ndata: ${JSON.stringify(event)}\n\n`);
  return { position, type, session, bytes };
}
