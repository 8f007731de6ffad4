// Reads a file line by line, with one line in memory at a time.
import { createReadStream } from "node:fs";

export interface Line {
  /** From 1. */
  readonly number: number;
  /** Without line end and byte order mark; null if it is too long. */
  readonly text: string | null;
  /** False for a last line without a line break. */
  readonly isEnded: boolean;
}

/** More than a request with the largest allowed images. */
export const lineBytesMax: number = 64 * 1024 * 1024;

const chunkBytes = 256 * 1024;
const lineFeed = 0x0a;

/** Every line that is not empty. */
export async function* readLines(
  path: string,
  onBytes: (bytes: number) => void = () => undefined,
  bytesMax: number = lineBytesMax,
): AsyncGenerator<Line> {
  let number = 0;
  let held = createHeldLine(bytesMax);
  const close = (isEnded: boolean): Line => {
    number += 1;
    const text = held.text();
    held = createHeldLine(bytesMax);
    return { number, text: number === 1 ? (text?.replace(/^\uFEFF/, "") ?? null) : text, isEnded };
  };
  const stream: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: chunkBytes });
  for await (const chunk of stream) {
    onBytes(chunk.length);
    let start = 0;
    let end = chunk.indexOf(lineFeed);
    while (end !== -1) {
      if (end > start) held.add(chunk.subarray(start, end));
      // Empty lines are counted and not given: a file can have millions.
      if (held.bytes > 0) yield close(true);
      else number += 1;
      start = end + 1;
      end = chunk.indexOf(lineFeed, start);
    }
    held.add(chunk.subarray(start));
  }
  if (held.bytes > 0) yield close(false);
}

interface HeldLine {
  readonly bytes: number;
  add(part: Buffer): void;
  text(): string | null;
}

/** Beyond the limit it only counts. */
function createHeldLine(bytesMax: number): HeldLine {
  let parts: Buffer[] = [];
  let bytes = 0;
  return {
    get bytes() {
      return bytes;
    },
    add(part) {
      bytes += part.length;
      if (bytes > bytesMax) parts = [];
      else if (part.length > 0) parts.push(part);
    },
    text() {
      if (bytes > bytesMax) return null;
      const [first] = parts;
      const whole = parts.length === 1 && first !== undefined ? first : Buffer.concat(parts);
      const text = whole.toString("utf8");
      return text.endsWith("\r") ? text.slice(0, -1) : text;
    },
  };
}

/** Whether the first line can only be the beginning of one JSON value over many lines, as programs write it for people. */
export function opensDocument({ text }: Line): boolean {
  return text !== null && /^\s*(?:\{|\[|\[\s*\{)\s*$/.test(text);
}

export interface HeldDocument {
  add(line: Line): void;
  /** The whole file as its first line; beyond the size of a line it has no text. */
  close(): Line;
}

export function createHeldDocument(): HeldDocument {
  let parts: string[] = [];
  let length = 0;
  let isWhole = true;
  return {
    add({ text }) {
      length += (text?.length ?? 0) + 1;
      isWhole &&= text !== null && length <= lineBytesMax;
      if (!isWhole) parts = [];
      else if (text !== null) parts.push(text);
    },
    close: () => ({ number: 1, text: isWhole ? parts.join("\n") : null, isEnded: true }),
  };
}
