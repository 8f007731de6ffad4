// Bytes that grow at the end and stay in one piece: a long conversation is sent as one slice, not ten thousand.

export interface GrowingBytes {
  readonly length: number;
  /** The bytes themselves, not a copy. Written bytes never change. */
  slice(start: number, end: number): Uint8Array;
  append(text: string): GrowingBytes;
}

const utf8 = new TextEncoder();

/** Initial room. It doubles whenever it is full. */
const roomBytesMin = 1024;

export function growingBytes(text = ""): GrowingBytes {
  return viewOf(empty, 0).append(text);
}

interface Shared {
  readonly room: Uint8Array;
  /** How far any view has written. Only a view that ends exactly here may append in place. */
  used: number;
}

const empty: Shared = { room: new Uint8Array(0), used: 0 };

function viewOf(shared: Shared, length: number): GrowingBytes {
  return {
    length,
    slice: (start, end) => shared.room.subarray(start, Math.min(end, length)),
    append: (text) => {
      if (text === "") return viewOf(shared, length);
      // A UTF-16 unit takes at most three bytes.
      const own = withRoom(shared, length, text.length * 3);
      const { written } = utf8.encodeInto(text, own.room.subarray(length));
      own.used = length + written;
      return viewOf(own, own.used);
    },
  };
}

function withRoom(shared: Shared, length: number, more: number): Shared {
  const needed = length + more;
  if (shared.used === length && needed <= shared.room.length) return shared;
  const room = new Uint8Array(Math.max(roomBytesMin, needed * 2));
  room.set(shared.room.subarray(0, length));
  return { room, used: length };
}
