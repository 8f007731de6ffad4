// Keeps the beginning and the end of a text that is too long, cut between characters.

export interface MiddleCut {
  readonly head: string;
  readonly tail: string;
  /** The bytes removed between the two. */
  readonly bytesLeftOut: number;
  readonly bytesOfAll: number;
  /** The first and the last line with something missing, from 1. */
  readonly fromLine: number;
  readonly toLine: number;
}

/** Cuts a text longer than `bytesMax`: keeps beginning and end in the ratio 7 to 2, or only the beginning. */
export function cutMiddle(
  text: string,
  bytesMax: number,
  keeping: "both ends" | "the beginning" = "both ends",
): MiddleCut {
  const bytes = encoder.encode(text);
  const tailBytes = keeping === "both ends" ? Math.floor((bytesMax * 2) / 9) : 0;
  const headEnd = toBoundary(bytes, Math.min(bytesMax - tailBytes, bytes.length), -1);
  const tailStart = toBoundary(bytes, bytes.length - tailBytes, 1);
  const fromLine = countLineEnds(bytes, 0, headEnd) + 1;
  return {
    head: decoder.decode(bytes.subarray(0, headEnd)),
    tail: decoder.decode(bytes.subarray(tailStart)),
    bytesLeftOut: tailStart - headEnd,
    bytesOfAll: bytes.length,
    fromLine,
    toLine: fromLine + countLineEnds(bytes, headEnd, tailStart - 1),
  };
}

export function countBytes(text: string): number {
  return encoder.encode(text).length;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The nearest character start in one direction. Continuation bytes are 10xxxxxx. */
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
