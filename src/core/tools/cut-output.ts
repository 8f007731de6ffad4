// A tool's output that is too long for a prompt → its beginning and its end, and a line between them that says what is missing.

export interface OutputCut {
  readonly text: string;
  readonly bytesLeftOut: number;
}

/** The place of what is left out, for the line that says so. */
export interface LeftOut {
  readonly bytes: number;
  readonly bytesOfAll: number;
  /** The first and the last line of which something is missing, from 1. */
  readonly fromLine: number;
  readonly toLine: number;
}

/** The beginning to the end as 7 to 2, cut between characters. The line comes on top of the limit. */
export function cutOutput(
  text: string,
  bytesMax: number,
  describe: (left: LeftOut) => string,
): OutputCut {
  const bytes = encoder.encode(text);
  if (bytes.length <= bytesMax) return { text, bytesLeftOut: 0 };
  const headEnd = toBoundary(bytes, Math.floor((bytesMax * 7) / 9), -1);
  const tailStart = toBoundary(bytes, bytes.length - Math.floor((bytesMax * 2) / 9), 1);
  const head = decoder.decode(bytes.subarray(0, headEnd));
  const tail = decoder.decode(bytes.subarray(tailStart));
  const fromLine = countLineEnds(bytes, 0, headEnd) + 1;
  const line = describe({
    bytes: tailStart - headEnd,
    bytesOfAll: bytes.length,
    fromLine,
    toLine: fromLine + countLineEnds(bytes, headEnd, tailStart - 1),
  });
  return { text: `${head}\n\n[${line}]\n\n${tail}`, bytesLeftOut: tailStart - headEnd };
}

export function countBytes(text: string): number {
  return encoder.encode(text).length;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The nearest place in one direction where a character starts: its other bytes are 10xxxxxx. */
function toBoundary(bytes: Uint8Array, place: number, direction: 1 | -1): number {
  let at = place;
  while (at > 0 && at < bytes.length && (bytes[at] ?? 0) >> 6 === 2) at += direction;
  return at;
}

function countLineEnds(bytes: Uint8Array, start: number, end: number): number {
  let count = 0;
  for (let at = bytes.indexOf(10, start); at !== -1 && at < end; at = bytes.indexOf(10, at + 1)) {
    count += 1;
  }
  return count;
}
