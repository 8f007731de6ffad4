// The bytes of a body, in the pieces in which they arrived. Joining them would cost more than comparing them with the previous body.
import { crc32 } from "node:zlib";

/** The first bytes, in a few lengths: programs often begin all their requests alike. */
const printLengths = [512, 4096, 16_384, 65_536] as const;

/** Shorter pieces are joined, because each piece makes every lookup a little slower. */
const usualPieceBytesMin = 4096;
const firstSliceBytes = 1024;
const sliceBytes = 65_536;
/** In so few bytes a difference is found faster without a native call. */
const lastSliceBytes = 128;

export class BodyBytes {
  readonly length: number;
  readonly #pieces: readonly Buffer[];
  /** Where each piece begins. */
  readonly #starts: readonly number[];
  /** The piece that the last lookup found. */
  #piece: Buffer = Buffer.alloc(0);
  #start = 0;
  #end = 0;

  constructor(pieces: readonly Uint8Array[], pieceBytesMin: number = usualPieceBytesMin) {
    const all = joinNeighbours(pieces);
    const length = all.reduce((sum, piece) => sum + piece.length, 0);
    this.#pieces = length < all.length * pieceBytesMin ? [Buffer.concat(all)] : all;
    const starts: number[] = [];
    this.length = this.#pieces.reduce((sum, piece) => {
      starts.push(sum);
      return sum + piece.length;
    }, 0);
    this.#starts = starts;
  }

  /** The byte at a place; undefined behind the end. */
  at(place: number): number | undefined {
    if (place < this.#start || place >= this.#end) this.#find(place);
    return this.#piece[place - this.#start];
  }

  /** The index of the next such byte; -1 for none. */
  indexOf(byte: number, from: number): number {
    for (let place = from; place < this.length; place = this.#end) {
      this.#find(place);
      const found = this.#piece.indexOf(byte, place - this.#start);
      if (found !== -1) return this.#start + found;
    }
    return -1;
  }

  text(start: number, end: number, encoding: "utf8" | "latin1" = "utf8"): string {
    this.#find(start);
    if (end <= this.#end) {
      return this.#piece.toString(encoding, start - this.#start, end - this.#start);
    }
    return Buffer.concat(this.slices(start, end)).toString(encoding);
  }

  /** The same bytes, not copied. */
  slices(start: number, end: number): Buffer[] {
    const slices: Buffer[] = [];
    for (let place = start; place < end; place = this.#end) {
      this.#find(place);
      slices.push(
        this.#piece.subarray(place - this.#start, Math.min(end, this.#end) - this.#start),
      );
    }
    return slices;
  }

  /** Checksums of its first bytes, the shortest first, to find bodies that may begin alike. */
  prints(): readonly string[] {
    const prints: string[] = [];
    let sum = 0;
    let from = 0;
    for (const length of printLengths) {
      if (length > this.length) break;
      for (let place = from; place < length; place = this.#end) {
        this.#find(place);
        sum = crc32(this.#piece.subarray(place - this.#start, length - this.#start), sum);
      }
      prints.push(`${length} ${sum}`);
      from = length;
    }
    return prints;
  }

  /** How many bytes are equal from two indexes on, at most `most`. Whole slices are compared natively. */
  common(at: number, other: BodyBytes, otherAt: number, most: number): number {
    const end = Math.min(most, this.length - at, other.length - otherAt);
    let done = 0;
    let step = firstSliceBytes;
    let isFound = false;
    while (done < end) {
      this.#find(at + done);
      other.#find(otherAt + done);
      const from = at + done - this.#start;
      const otherFrom = otherAt + done - other.#start;
      const length = Math.min(
        step,
        end - done,
        this.#piece.length - from,
        other.#piece.length - otherFrom,
      );
      if (isSameMemory(this.#piece, from, other.#piece, otherFrom)) {
        done += Math.min(end - done, this.#piece.length - from, other.#piece.length - otherFrom);
      } else if (
        this.#piece.compare(other.#piece, otherFrom, otherFrom + length, from, from + length) === 0
      ) {
        done += length;
        // Bodies either differ at once or have much in common.
        if (!isFound) step = Math.min(sliceBytes, step * 4);
      } else if (length <= lastSliceBytes) {
        const here = this.#piece;
        const there = other.#piece;
        for (let index = 0; index < length; index += 1) {
          if (here[from + index] !== there[otherFrom + index]) return done + index;
        }
      } else {
        isFound = true;
        step = length >> 1;
      }
    }
    return Math.max(0, end);
  }

  #find(place: number): void {
    if (place >= this.#start && place < this.#end) return;
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= place) low = middle;
      else high = middle - 1;
    }
    this.#piece = this.#pieces[low] ?? this.#piece;
    this.#start = this.#starts[low] ?? 0;
    this.#end = this.#start + this.#piece.length;
  }
}

/** Pieces that follow each other in memory as one. */
function joinNeighbours(pieces: readonly Uint8Array[]): Buffer[] {
  const joined: Buffer[] = [];
  for (const { buffer, byteOffset, byteLength } of pieces) {
    const last = joined.at(-1);
    const isNext = last?.buffer === buffer && last.byteOffset + last.length === byteOffset;
    if (isNext) {
      joined[joined.length - 1] = Buffer.from(buffer, last.byteOffset, last.length + byteLength);
    } else joined.push(Buffer.from(buffer, byteOffset, byteLength));
  }
  return joined;
}

function isSameMemory(one: Buffer, at: number, other: Buffer, otherAt: number): boolean {
  return one.buffer === other.buffer && one.byteOffset + at === other.byteOffset + otherAt;
}
