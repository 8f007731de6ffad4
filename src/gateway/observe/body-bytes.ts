// The bytes of a body in the pieces they came in. Joining them would cost more than comparing them with the body before.

/** Shorter pieces are joined: looking up each one costs some work. */
const usualPieceBytesMin = 4096;
const sliceBytes = 65_536;

export class BodyBytes {
  readonly length: number;
  readonly #pieces: readonly Buffer[];
  /** Where each piece begins. */
  readonly #starts: readonly number[];
  /** The piece that was looked into last. */
  #piece: Buffer = Buffer.alloc(0);
  #start = 0;
  #end = 0;

  constructor(pieces: readonly Uint8Array[], pieceBytesMin: number = usualPieceBytesMin) {
    const all = pieces.map((piece) =>
      Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength),
    );
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

  /** The place of the next such byte; -1 for none. */
  indexOf(byte: number, from: number): number {
    for (let place = from; place < this.length; place = this.#end) {
      this.#find(place);
      const found = this.#piece.indexOf(byte, place - this.#start);
      if (found !== -1) return this.#start + found;
    }
    return -1;
  }

  text(start: number, end: number): string {
    this.#find(start);
    if (end <= this.#end) {
      return this.#piece.toString("utf8", start - this.#start, end - this.#start);
    }
    const parts: Buffer[] = [];
    for (let place = start; place < end; place = this.#end) {
      this.#find(place);
      parts.push(this.#piece.subarray(place - this.#start, Math.min(end, this.#end) - this.#start));
    }
    return Buffer.concat(parts).toString("utf8");
  }

  /** How many bytes are equal from two places on, at most `most`. Whole slices are compared by the machine. */
  common(at: number, other: BodyBytes, otherAt: number, most: number): number {
    const end = Math.min(most, this.length - at, other.length - otherAt);
    let done = 0;
    let step = sliceBytes;
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
      if (
        this.#piece.compare(other.#piece, otherFrom, otherFrom + length, from, from + length) === 0
      ) {
        done += length;
      } else if (length === 1) return done;
      else step = Math.max(1, length >> 1);
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
