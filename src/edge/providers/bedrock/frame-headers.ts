// The headers of a frame: name, type of value, value. Only texts are used; the others are skipped.

/** Undefined if the bytes are not exactly a list of headers. */
export function readHeaders(bytes: Uint8Array): ReadonlyMap<string, string> | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const headers = new Map<string, string>();
  let at = 0;
  while (at < bytes.length) {
    const nameEnd = at + 1 + view.getUint8(at);
    if (nameEnd >= bytes.length) return undefined;
    const name = utf8.decode(bytes.subarray(at + 1, nameEnd));
    const type = view.getUint8(nameEnd);
    const fixed = lengths.get(type);
    const lengthAt = nameEnd + 1;
    if (fixed === undefined && (!hasLength.has(type) || lengthAt + 2 > bytes.length)) {
      return undefined;
    }
    const valueAt = fixed === undefined ? lengthAt + 2 : lengthAt;
    const end = valueAt + (fixed ?? view.getUint16(lengthAt));
    if (end > bytes.length) return undefined;
    if (type === textType) headers.set(name, utf8.decode(bytes.subarray(valueAt, end)));
    at = end;
  }
  return headers;
}

const utf8 = new TextDecoder();
const textType = 7;

/** Bytes and texts say how long they are. */
const hasLength: ReadonlySet<number> = new Set([6, textType]);

/** By type: true, false, a byte, two, four and eight of them, a time, a UUID. */
const lengths: ReadonlyMap<number, number> = new Map([
  [0, 0],
  [1, 0],
  [2, 1],
  [3, 2],
  [4, 4],
  [5, 8],
  [8, 8],
  [9, 16],
]);
