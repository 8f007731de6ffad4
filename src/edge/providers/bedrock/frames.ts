// Binary frames of AWS event streams → events, wherever the bytes are split.
import { crc32 } from "node:zlib";
import type { ServerEvent } from "../../../core/wire/protocol.ts";
import { brokenFrames, exceptionEvent } from "../../../core/wire/service-exceptions.ts";
import type { StreamForm } from "../sse.ts";
import { readHeaders } from "./frame-headers.ts";

/**
 * A frame: its length, the length of its headers, a checksum of both, headers, payload, a checksum of all. Numbers have four bytes, the
 * highest first (@smithy/core 3.40 event-streams).
 */
export const readFrames: StreamForm = (onEvent) => {
  const waiting = createWaiting();
  let isBroken = false;
  return {
    feed: (bytes) => {
      if (isBroken) return;
      waiting.add(bytes);
      for (;;) {
        const taken = takeFrame(waiting.bytes());
        if (taken === null) return;
        onEvent(taken.event);
        // What follows cannot be read: nothing says where the next frame begins.
        isBroken = taken.length === 0;
        if (isBroken) return;
        waiting.drop(taken.length);
      }
    },
  };
};

export function isFrames(contentType: string): boolean {
  return /^\s*application\/vnd\.amazon\.eventstream\s*(?:;|$)/i.test(contentType);
}

interface Taken {
  readonly event: ServerEvent;
  /** The bytes of the frame; 0 if they are none. */
  readonly length: number;
}

const utf8 = new TextDecoder();
const preludeBytes = 12;
const checksumBytes = 4;
const frameBytesMin = preludeBytes + checksumBytes;

/** By AWS, of a whole frame and of its headers. A larger number is no length, and is refused before its bytes are waited for. */
const frameBytesMax = 24 * 1024 * 1024;
const headerBytesMax = 128 * 1024;

/** Null until the frame is whole. */
function takeFrame(bytes: Uint8Array): Taken | null {
  if (bytes.length < preludeBytes) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const [length, headersLength] = [view.getUint32(0), view.getUint32(4)];
  if (crc32(bytes.subarray(0, 8)) !== view.getUint32(8)) {
    return broken("the checksum of a frame's lengths is wrong");
  }
  const isPossible =
    length >= frameBytesMin + headersLength &&
    length <= frameBytesMax &&
    headersLength <= headerBytesMax;
  if (!isPossible)
    return broken(`a frame claims ${length} bytes, ${headersLength} of them headers`);
  if (bytes.length < length) return null;
  const end = length - checksumBytes;
  if (crc32(bytes.subarray(0, end)) !== view.getUint32(end)) {
    return broken("the checksum of a frame is wrong");
  }
  const payloadAt = preludeBytes + headersLength;
  const headers = readHeaders(bytes.subarray(preludeBytes, payloadAt));
  if (headers === undefined) return broken("the headers of a frame cannot be read");
  const data = utf8.decode(bytes.subarray(payloadAt, end));
  const event = toEvent(headers, data);
  return event === undefined ? broken("a frame does not say what it is") : { event, length };
}

/** Undefined for a frame of an unknown kind. */
function toEvent(headers: ReadonlyMap<string, string>, data: string): ServerEvent | undefined {
  switch (headers.get(":message-type") ?? "") {
    case "event":
      return { event: headers.get(":event-type"), data };
    case "exception":
      return exceptionEvent({ name: headers.get(":exception-type") ?? "", data });
    case "error": {
      const message = headers.get(":error-message") ?? "";
      const name = headers.get(":error-code") ?? "";
      return exceptionEvent({ name, data: JSON.stringify({ message }) });
    }
    default:
      return undefined;
  }
}

function broken(message: string): Taken {
  return { event: brokenFrames(message), length: 0 };
}

interface Waiting {
  add(bytes: Uint8Array): void;
  drop(length: number): void;
  bytes(): Uint8Array;
}

/** Bytes of which no frame was made yet. The room doubles when it is full, so that each byte is moved only a few times. */
function createWaiting(): Waiting {
  let room = new Uint8Array(4096);
  let [start, end] = [0, 0];
  return {
    add: (bytes) => {
      if (end + bytes.length > room.length) {
        const held = room.subarray(start, end);
        const needed = held.length + bytes.length;
        if (needed > room.length / 2) room = new Uint8Array(Math.max(needed, room.length) * 2);
        room.set(held);
        [start, end] = [0, held.length];
      }
      room.set(bytes, end);
      end += bytes.length;
    },
    drop: (length) => {
      start += length;
    },
    bytes: () => room.subarray(start, end),
  };
}
