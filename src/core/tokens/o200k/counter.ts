// Exact o200k and cl100k counts of any text in linear time and fixed memory. Special tokens count as text.
import { Merger } from "./merge.ts";
import type { PieceBuffer } from "./merge-ranks.ts";
import { endOfPiece } from "./split.ts";
import { endOfCl100kPiece } from "./split-cl100k.ts";
import { createVocabulary, hashBase, noRank, type RawRanks } from "./vocabulary.ts";

export interface TextCounter {
  count(text: string): number;
}

/** A longer unbroken run is counted in parts of at most this length. */
export const runCharactersMax = 512;

let loading: Promise<TextCounter> | undefined;

/** Loads the ranks on first use (about 2.4 MB of source). Later calls share the result. */
export function loadO200k(): Promise<TextCounter> {
  loading ??= import("gpt-tokenizer/bpeRanks/o200k_base").then((ranks) =>
    createTextCounter(ranks.default),
  );
  return loading;
}

let loadingCl100k: Promise<TextCounter> | undefined;

/** The same for models of the vocabulary before o200k, such as gpt-4-turbo. */
export function loadCl100k(): Promise<TextCounter> {
  loadingCl100k ??= import("gpt-tokenizer/bpeRanks/cl100k_base").then((ranks) =>
    createTextCounter(ranks.default, endOfCl100kPiece),
  );
  return loadingCl100k;
}

export function createTextCounter(
  ranks: RawRanks,
  endOf: (text: string, start: number) => number = endOfPiece,
): TextCounter {
  const vocabulary = createVocabulary(ranks);
  const merger = new Merger(vocabulary);
  const { buffer } = merger;

  function countPiece(text: string, start: number, end: number): number {
    const length = fillBuffer(buffer, text, start, end);
    if (length <= 2) {
      if (length === 1) return 1;
      return vocabulary.pairRanks[buffer.bytes[0]! * 256 + buffer.bytes[1]!] === noRank ? 2 : 1;
    }
    const whole =
      length <= vocabulary.longestToken &&
      vocabulary.rankOf(buffer.bytes, 0, length, buffer.hashes[length]!) !== noRank;
    return whole ? 1 : merger.count(length);
  }

  return {
    count(text) {
      let tokens = 0;
      let start = 0;
      while (start < text.length) {
        const end = endOf(text, start);
        while (end - start > runCharactersMax) {
          const cut = cutBefore(text, start + runCharactersMax);
          tokens += countPiece(text, start, cut);
          start = cut;
        }
        tokens += countPiece(text, start, end);
        start = end;
      }
      return tokens;
    },
  };
}

/** Never splits a surrogate pair. */
function cutBefore(text: string, index: number): number {
  const code = text.charCodeAt(index);
  const before = text.charCodeAt(index - 1);
  const splitsPair = code >= 0xdc00 && code <= 0xdfff && before >= 0xd800 && before <= 0xdbff;
  return splitsPair ? index - 1 : index;
}

/** Writes text[start, end) as UTF-8 with prefix hashes. Half a character becomes U+FFFD. */
function fillBuffer(buffer: PieceBuffer, text: string, start: number, end: number): number {
  const { bytes, hashes } = buffer;
  let length = 0;
  let hash = 0;
  for (let at = start; at < end; at += 1) {
    let code = text.charCodeAt(at);
    if (code < 0x80) {
      bytes[length] = code;
      hash = (Math.imul(hash, hashBase) + code + 1) | 0;
      length += 1;
      hashes[length] = hash;
      continue;
    }
    const first = length;
    if (code >= 0xd800 && code <= 0xdfff) {
      const low = code <= 0xdbff && at + 1 < end ? text.charCodeAt(at + 1) : 0;
      if (low >= 0xdc00 && low <= 0xdfff) {
        code = (code - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000;
        at += 1;
      } else {
        code = 0xfffd;
      }
    }
    if (code < 0x800) {
      bytes[length++] = 0xc0 | (code >> 6);
    } else {
      if (code < 0x10000) {
        bytes[length++] = 0xe0 | (code >> 12);
      } else {
        bytes[length++] = 0xf0 | (code >> 18);
        bytes[length++] = 0x80 | ((code >> 12) & 0x3f);
      }
      bytes[length++] = 0x80 | ((code >> 6) & 0x3f);
    }
    bytes[length++] = 0x80 | (code & 0x3f);
    for (let byte = first; byte < length; byte += 1) {
      hash = (Math.imul(hash, hashBase) + bytes[byte]! + 1) | 0;
      hashes[byte + 1] = hash;
    }
  }
  return length;
}
