// The o200k tokens as bytes in one block with a hash index, so that counting creates no strings.
import { assert } from "../../assert.ts";

/** A token is its text, or its bytes if they are not whole characters. The index is its rank. */
export type RawRanks = readonly (string | readonly number[] | undefined)[];

export const noRank = -1;

/** The hash is polynomial, so two prefix hashes give the hash of any substring. */
export const hashBase = 0x01000193;

export interface Vocabulary {
  readonly longestToken: number;
  /** Rank of each one-byte token. Every byte has one. */
  readonly byteRanks: Int32Array;
  /** Rank of each two-byte token, or noRank. The index is first byte * 256 + second. */
  readonly pairRanks: Int32Array;
  /** 1 for each pair of bytes that begins a token of three or more bytes; same index. */
  readonly startPairs: Uint8Array;
  /** The same for the last two bytes. */
  readonly endPairs: Uint8Array;
  /** False if no token crosses `at`, where a multi-byte character starts after another. */
  mayCross(bytes: Uint8Array, at: number): boolean;
  /** Rank of the token equal to bytes[start, end), or noRank. The caller supplies the hash. */
  rankOf(bytes: Uint8Array, start: number, end: number, hash: number): number;
}

export function createVocabulary(ranks: RawRanks): Vocabulary {
  const { bytes, ends } = packTokens(ranks);
  const size = 2 ** Math.ceil(Math.log2(ranks.length * 2.5));
  const mask = size - 1;
  // Each slot: a token's hash and its rank.
  const slots = new Int32Array(size * 2);
  // One byte of each hash, never zero; zero marks an empty slot. Most lookups are for non-tokens, and
  // these bytes, which fit a processor's cache, answer them.
  const prints = new Uint8Array(size);
  const byteRanks = new Int32Array(256).fill(noRank);
  const pairRanks = new Int32Array(65_536).fill(noRank);
  const startPairs = new Uint8Array(65_536);
  const endPairs = new Uint8Array(65_536);
  const crossings = new Uint8Array(crossingBits / 8);
  let longestToken = 0;
  for (let rank = 0; rank < ranks.length; rank += 1) {
    const start = rank === 0 ? 0 : ends[rank - 1]!;
    const end = ends[rank]!;
    if (start === end) continue;
    longestToken = Math.max(longestToken, end - start);
    if (end - start === 1) byteRanks[bytes[start]!] = rank;
    if (end - start === 2) pairRanks[bytes[start]! * 256 + bytes[start + 1]!] = rank;
    if (end - start >= 3) {
      startPairs[bytes[start]! * 256 + bytes[start + 1]!] = 1;
      endPairs[bytes[end - 2]! * 256 + bytes[end - 1]!] = 1;
    }
    for (let at = start + 2; at + 2 <= end; at += 1) {
      if (isBetweenCharacters(bytes, at)) setBit(crossings, crossingHash(bytes, at));
    }
    let hash = 0;
    for (let at = start; at < end; at += 1) hash = (Math.imul(hash, hashBase) + bytes[at]! + 1) | 0;
    let slot = slotOf(hash, mask);
    while (prints[slot] !== 0) slot = (slot + 1) & mask;
    prints[slot] = printOf(hash);
    slots[slot * 2] = hash;
    slots[slot * 2 + 1] = rank;
  }

  // The pair tables cover tokens with one byte on either side; the crossings cover two or more.
  function mayCross(text: Uint8Array, at: number): boolean {
    const pair = text[at - 1]! * 256 + text[at]!;
    if (pairRanks[pair] !== noRank || startPairs[pair] === 1 || endPairs[pair] === 1) return true;
    return hasBit(crossings, crossingHash(text, at));
  }

  function rankOf(text: Uint8Array, start: number, end: number, hash: number): number {
    const print = printOf(hash);
    for (let slot = slotOf(hash, mask); ; slot = (slot + 1) & mask) {
      const found = prints[slot]!;
      if (found === 0) return noRank;
      if (found !== print || slots[slot * 2] !== hash) continue;
      const rank = slots[slot * 2 + 1]!;
      if (isToken(rank, text, start, end)) return rank;
    }
  }

  // Equal hashes prove nothing; compare the bytes.
  function isToken(rank: number, text: Uint8Array, start: number, end: number): boolean {
    const tokenStart = rank === 0 ? 0 : ends[rank - 1]!;
    const length = end - start;
    if (ends[rank]! - tokenStart !== length) return false;
    for (let at = 0; at < length; at += 1) {
      if (bytes[tokenStart + at] !== text[start + at]) return false;
    }
    return true;
  }

  return { longestToken, byteRanks, pairRanks, startPairs, endPairs, mayCross, rankOf };
}

/** Size of the set of byte quadruples around character boundaries inside tokens. A false hit only costs time. */
const crossingBits = 2 ** 20;

/** Whether a multi-byte character ends and another begins at `at`. */
export function isBetweenCharacters(bytes: Uint8Array, at: number): boolean {
  return bytes[at]! >= 0xc0 && bytes[at - 1]! >= 0x80;
}

/** Hashes the two bytes before and the two bytes after `at`. */
function crossingHash(bytes: Uint8Array, at: number): number {
  const before = bytes[at - 2]! | (bytes[at - 1]! << 8);
  const after = bytes[at]! | (bytes[at + 1]! << 8);
  return (Math.imul(before | (after << 16), 0x9e3779b1) >>> 12) & (crossingBits - 1);
}

function setBit(bits: Uint8Array, bit: number): void {
  bits[bit >> 3]! |= 1 << (bit & 7);
}

function hasBit(bits: Uint8Array, bit: number): boolean {
  return ((bits[bit >> 3]! >> (bit & 7)) & 1) === 1;
}

function slotOf(hash: number, mask: number): number {
  return (Math.imul(hash, 0x9e3779b1) >>> 12) & mask;
}

function printOf(hash: number): number {
  return (hash & 0xff) | 1;
}

function packTokens(ranks: RawRanks): { bytes: Uint8Array; ends: Int32Array } {
  const encoder = new TextEncoder();
  const ends = new Int32Array(ranks.length);
  let bytes = new Uint8Array(ranks.length * 8);
  let length = 0;
  for (let rank = 0; rank < ranks.length; rank += 1) {
    const token = ranks[rank];
    if (length + 1024 > bytes.length) bytes = grow(bytes);
    if (typeof token === "string") {
      const { read, written } = encoder.encodeInto(token, bytes.subarray(length, length + 1024));
      assert(read === token.length, "a token longer than 1024 bytes");
      length += written;
    } else if (token !== undefined) {
      bytes.set(token, length);
      length += token.length;
    }
    ends[rank] = length;
  }
  return { bytes: bytes.slice(0, length), ends };
}

function grow(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(bytes.length * 2);
  larger.set(bytes);
  return larger;
}
