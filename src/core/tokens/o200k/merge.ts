// Byte pair merging that only counts: lowest rank first, leftmost first among equals.
import { CandidateHeap, positionOf, positionsMax, rankOf } from "./candidate-heap.ts";
import { createPieceBuffer, MergeRanks, type PieceBuffer } from "./merge-ranks.ts";
import { isBetweenCharacters, noRank, type Vocabulary } from "./vocabulary.ts";

/** Most bytes of one piece. */
export const pieceBytesMax: number = positionsMax;

/** Up to this length, repeated scans for the lowest rank are faster than keeping a heap. */
const scanBytesMax = 40;

/** A round that merges fewer than one in this many parts does not pay for its pass over all of them. */
const roundShare = 8;

const noPart = -1;

/** Counts the tokens in its buffer. All memory is allocated once and reused. */
export class Merger {
  readonly buffer: PieceBuffer = createPieceBuffer(pieceBytesMax + 1);
  private readonly vocabulary: Vocabulary;
  private readonly mergeRanks: MergeRanks;
  private readonly heap = new CandidateHeap(pieceBytesMax * 3);
  // A part is identified by its start. For each part: the starts of the next and the previous part, its
  // token, and the rank of merging it with the next.
  private readonly next = new Int32Array(pieceBytesMax + 2);
  private readonly previous = new Int32Array(pieceBytesMax + 2);
  private readonly tokens = new Int32Array(pieceBytesMax + 2);
  private readonly ranks = new Int32Array(pieceBytesMax + 2);
  private start = 0;
  private end = 0;
  private parts = 0;

  constructor(vocabulary: Vocabulary) {
    this.vocabulary = vocabulary;
    this.mergeRanks = new MergeRanks(vocabulary, this.buffer);
  }

  /** Tokens of the first `length` bytes of the buffer. */
  count(length: number): number {
    if (length <= scanBytesMax) return this.countPart(0, length);
    // Where no token can cross a boundary, both sides merge independently. Text without spaces has many such places.
    const { bytes } = this.buffer;
    let tokens = 0;
    let start = 0;
    for (let at = 2; at + 2 <= length; at += 1) {
      if (!isBetweenCharacters(bytes, at) || this.vocabulary.mayCross(bytes, at)) continue;
      tokens += this.countPart(start, at);
      start = at;
    }
    return tokens + this.countPart(start, length);
  }

  private countPart(start: number, end: number): number {
    this.splitIntoBytes(start, end);
    if (end - start <= scanBytesMax) {
      this.mergeByScanning();
    } else {
      this.mergeInRounds();
      this.mergeByHeap();
    }
    return this.parts;
  }

  private splitIntoBytes(start: number, end: number): void {
    const { next, previous, tokens, ranks } = this;
    const { bytes } = this.buffer;
    const { byteRanks, pairRanks } = this.vocabulary;
    this.start = start;
    this.end = end;
    this.parts = end - start;
    for (let at = start; at < end; at += 1) {
      next[at] = at + 1;
      previous[at] = at - 1;
      tokens[at] = byteRanks[bytes[at]!]!;
      ranks[at] = pairRanks[bytes[at]! * 256 + bytes[at + 1]!]!;
    }
    previous[start] = noPart;
    ranks[end - 1] = noRank;
  }

  private mergeByScanning(): void {
    const { next, ranks, start, end } = this;
    for (;;) {
      let lowest = 0x7fffffff;
      let place = noPart;
      for (let at = start; at < end; at = next[at]!) {
        const rank = ranks[at]!;
        if (rank !== noRank && rank < lowest) {
          lowest = rank;
          place = at;
        }
      }
      if (place === noPart) return;
      this.mergeAt(place);
    }
  }

  /**
   * Merges every occurrence of the lowest rank in one pass while there are many: a run of one character
   * halves each time. Stops early if a new candidate is lower, because that one is next.
   */
  private mergeInRounds(): void {
    for (;;) {
      let lowest = 0x7fffffff;
      let occurrences = 0;
      for (let { start: at } = this; at < this.end; at = this.next[at]!) {
        const rank = this.ranks[at]!;
        if (rank === noRank || rank > lowest) continue;
        occurrences = rank === lowest ? occurrences + 1 : 1;
        lowest = rank;
      }
      if (occurrences * roundShare < this.parts) return;
      for (let { start: at } = this; at < this.end; at = this.next[at]!) {
        if (this.ranks[at] !== lowest) continue;
        this.mergeAt(at);
        const before = this.previous[at]!;
        if (isBelow(this.ranks[at]!, lowest)) break;
        if (before !== noPart && isBelow(this.ranks[before]!, lowest)) break;
      }
    }
  }

  private mergeByHeap(): void {
    const { heap, ranks } = this;
    heap.clear();
    for (let { start: at } = this; at < this.end; at = this.next[at]!) {
      if (ranks[at] !== noRank) heap.add(ranks[at]!, at);
    }
    while (!heap.isEmpty) {
      const entry = heap.take();
      const at = positionOf(entry);
      // An outdated rank belongs to a merge that is no longer possible.
      if (ranks[at] !== rankOf(entry)) continue;
      this.mergeAt(at);
      if (ranks[at] !== noRank) heap.add(ranks[at], at);
      const before = this.previous[at]!;
      if (before !== noPart && ranks[before] !== noRank) heap.add(ranks[before]!, before);
    }
  }

  /** Joins the part at `at` with the next one. Its merge rank must not be noRank. */
  private mergeAt(at: number): void {
    const { next, previous, tokens, ranks } = this;
    const merged = ranks[at]!;
    const absorbed = next[at]!;
    const after = next[absorbed]!;
    ranks[absorbed] = noRank;
    next[at] = after;
    tokens[at] = merged;
    this.parts -= 1;
    if (after < this.end) {
      previous[after] = at;
      ranks[at] = this.mergeRanks.of(at, next[after]!, merged, tokens[after]!);
    } else {
      ranks[at] = noRank;
    }
    const before = previous[at]!;
    if (before !== noPart)
      ranks[before] = this.mergeRanks.of(before, after, tokens[before]!, merged);
  }
}

function isBelow(rank: number, lowest: number): boolean {
  return rank !== noRank && rank < lowest;
}
