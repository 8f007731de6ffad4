// The o200k splitting rule as a scanner: each character is looked at a bounded number of times, so a
// text is split in linear time whatever it contains. The rule, alternatives in order of preference:
//   1  [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+('s|'t|'re|'ve|'m|'ll|'d)?
//   2  [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*('s|'t|'re|'ve|'m|'ll|'d)?
//   3  \p{N}{1,3}
//   4   ?[^\s\p{L}\p{N}]+[\r\n/]*
//   5  \s*[\r\n]+
//   6  \s+(?!\S)
//   7  \s+
import { characterClass, classOf } from "./character-class.ts";

const { other, upper, lower, bothCases, mark, number, space, newline } = characterClass;

/** The end of the piece that starts at `start`, which must be inside the text. */
export function endOfPiece(text: string, start: number): number {
  const first = codePointAt(text, start);
  const kind = classOf(first);
  if (kind === lower || kind === upper || kind === bothCases) return endOfWord(text, start);
  const next = start + widthOf(first);
  if (kind === number) return endOfNumber(text, next);
  if (kind !== newline && next < text.length) {
    const nextKind = classOf(codePointAt(text, next));
    if (isWordPart(nextKind)) {
      const end = endOfPrefixedWord(text, start, next, kind);
      if (end !== -1) return end;
    }
    if (first === 0x20 && (nextKind === other || nextKind === mark)) {
      return endOfPunctuation(text, next);
    }
  }
  if (kind === mark) return endOfWord(text, start);
  return kind === other ? endOfPunctuation(text, start) : endOfSpace(text, start);
}

/** A word after one character that is not a letter, digit or newline. -1: no such word. */
function endOfPrefixedWord(text: string, start: number, next: number, kind: number): number {
  const end = endOfMixedWord(text, next);
  if (end !== -1) return endOfContraction(text, end);
  // Alternative 1 without its first part comes before alternative 2, and a mark satisfies it.
  if (kind === mark) return endOfWord(text, start);
  return endOfContraction(text, endOfUpperRun(text, next));
}

function endOfWord(text: string, start: number): number {
  const end = endOfMixedWord(text, start);
  return endOfContraction(text, end === -1 ? endOfUpperRun(text, start) : end);
}

/** Upper-like characters, then at least one lower-like one. -1: none. */
function endOfMixedWord(text: string, start: number): number {
  let at = start;
  let afterLastBoth = -1;
  while (at < text.length) {
    const codePoint = codePointAt(text, at);
    const kind = classOf(codePoint);
    if (kind === lower) return endOfLowerRun(text, at + widthOf(codePoint));
    if (kind !== upper && kind !== bothCases && kind !== mark) break;
    at += widthOf(codePoint);
    if (kind !== upper) afterLastBoth = at;
  }
  // No lower case follows, so the last character that counts as both serves as lower case.
  return afterLastBoth;
}

function endOfLowerRun(text: string, start: number): number {
  let at = start;
  while (at < text.length) {
    const codePoint = codePointAt(text, at);
    const kind = classOf(codePoint);
    if (kind !== lower && kind !== bothCases && kind !== mark) break;
    at += widthOf(codePoint);
  }
  return at;
}

function endOfUpperRun(text: string, start: number): number {
  let at = start;
  while (at < text.length) {
    const codePoint = codePointAt(text, at);
    if (classOf(codePoint) !== upper) break;
    at += widthOf(codePoint);
  }
  return at;
}

export function endOfContraction(text: string, start: number): number {
  if (text.charCodeAt(start) !== 0x27) return start;
  const first = text.charCodeAt(start + 1) | 0x20;
  if (first === 0x73 || first === 0x64 || first === 0x6d || first === 0x74) return start + 2;
  const second = text.charCodeAt(start + 2) | 0x20;
  if (first === 0x6c && second === 0x6c) return start + 3;
  if ((first === 0x76 || first === 0x72) && second === 0x65) return start + 3;
  return start;
}

/** At most three digits. The first one ends at `start`. */
export function endOfNumber(text: string, start: number): number {
  let at = start;
  for (let digits = 1; digits < 3 && at < text.length; digits += 1) {
    const codePoint = codePointAt(text, at);
    if (classOf(codePoint) !== number) break;
    at += widthOf(codePoint);
  }
  return at;
}

function endOfPunctuation(text: string, start: number): number {
  let at = start;
  while (at < text.length) {
    const codePoint = codePointAt(text, at);
    const kind = classOf(codePoint);
    if (kind !== other && kind !== mark) break;
    at += widthOf(codePoint);
  }
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code !== 0x0a && code !== 0x0d && code !== 0x2f) break;
    at += 1;
  }
  return at;
}

/** Up to the last newline. Without a newline: all but the last space before a word. */
export function endOfSpace(text: string, start: number): number {
  let at = start;
  let afterNewline = -1;
  // Every white space character is one unit wide.
  while (at < text.length) {
    const kind = classOf(text.charCodeAt(at));
    if (kind !== space && kind !== newline) break;
    at += 1;
    if (kind === newline) afterNewline = at;
  }
  if (afterNewline !== -1) return afterNewline;
  return at === text.length || at === start + 1 ? at : at - 1;
}

function isWordPart(kind: number): boolean {
  return kind === lower || kind === upper || kind === bothCases || kind === mark;
}

/** Like String.codePointAt, without `undefined`. The index must be inside the text. */
export function codePointAt(text: string, index: number): number {
  const code = text.charCodeAt(index);
  if (code < 0xd800 || code > 0xdbff) return code;
  const low = text.charCodeAt(index + 1);
  return low >= 0xdc00 && low <= 0xdfff ? (code - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000 : code;
}

export function widthOf(codePoint: number): number {
  return codePoint > 0xffff ? 2 : 1;
}
