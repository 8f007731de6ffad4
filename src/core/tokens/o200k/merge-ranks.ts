// The rank of two neighbouring tokens merged into one, with a fixed-size cache.
import { hashBase, noRank, type Vocabulary } from "./vocabulary.ts";

/** Bytes with prefix hashes. The writer tracks how many bytes are in use. */
export interface PieceBuffer {
  readonly bytes: Uint8Array;
  /** hashes[n] is the hash of the first n bytes. */
  readonly hashes: Int32Array;
}

export function createPieceBuffer(bytesMax: number): PieceBuffer {
  return { bytes: new Uint8Array(bytesMax), hashes: new Int32Array(bytesMax + 1) };
}

/** Size of the cache; a power of two. Runs of one character and common syllables use few merges. */
const rememberedMerges = 16_384;

export class MergeRanks {
  private readonly vocabulary: Vocabulary;
  private readonly buffer: PieceBuffer;
  private readonly powers: Int32Array;
  /** Four numbers per merge, three of them used: left token, right token, merged rank. */
  private readonly remembered = new Int32Array(rememberedMerges * 4).fill(noRank);

  constructor(vocabulary: Vocabulary, buffer: PieceBuffer) {
    this.vocabulary = vocabulary;
    this.buffer = buffer;
    this.powers = new Int32Array(buffer.hashes.length);
    this.powers[0] = 1;
    for (let at = 1; at < this.powers.length; at += 1) {
      this.powers[at] = Math.imul(this.powers[at - 1]!, hashBase);
    }
  }

  /** The rank of `left` and `right` merged, which fill the buffer from `start` to `end`; or noRank. */
  of(start: number, end: number, left: number, right: number): number {
    const length = end - start;
    const { longestToken, startPairs, endPairs } = this.vocabulary;
    const { bytes, hashes } = this.buffer;
    if (length > longestToken) return noRank;
    // In multi-byte text, the first or last two bytes already rule out most neighbours.
    if (startPairs[bytes[start]! * 256 + bytes[start + 1]!] === 0) return noRank;
    if (endPairs[bytes[end - 2]! * 256 + bytes[end - 1]!] === 0) return noRank;
    const { remembered } = this;
    const mixed = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b);
    const slot = ((mixed >>> 14) & (rememberedMerges - 1)) * 4;
    if (remembered[slot] === left && remembered[slot + 1] === right) return remembered[slot + 2]!;
    const hash = (hashes[end]! - Math.imul(hashes[start]!, this.powers[length]!)) | 0;
    const rank = this.vocabulary.rankOf(bytes, start, end, hash);
    remembered[slot] = left;
    remembered[slot + 1] = right;
    remembered[slot + 2] = rank;
    return rank;
  }
}
