// The splitting rule of cl100k, the vocabulary before o200k, as a scanner in linear time. Alternatives in order of preference:
//   1  '(s|d|m|t|ll|ve|re), in either case
//   2  [^\r\n\p{L}\p{N}]?\p{L}+
//   3  \p{N}{1,3}
//   4   ?[^\s\p{L}\p{N}]+[\r\n]*
//   5  \s+$
//   6  \s*[\r\n]
//   7  \s+(?!\S)
//   8  \s
import { characterClass, classOf } from "./character-class.ts";
import { codePointAt, endOfContraction, endOfNumber, endOfSpace, widthOf } from "./split.ts";

const { other, upper, lower, bothCases, mark, number, space, newline } = characterClass;

/** The end of the piece that starts at `start`, which must be inside the text. */
export function endOfCl100kPiece(text: string, start: number): number {
  const contraction = endOfContraction(text, start);
  if (contraction !== start) return contraction;
  const first = codePointAt(text, start);
  const kind = classOf(first);
  if (isLetter(kind)) return endOfLetters(text, start);
  const next = start + widthOf(first);
  if (kind === number) return endOfNumber(text, next);
  if (kind !== newline && next < text.length) {
    const nextKind = classOf(codePointAt(text, next));
    if (isLetter(nextKind)) return endOfLetters(text, next);
    if (first === 0x20 && (nextKind === other || nextKind === mark)) return endOfSigns(text, next);
  }
  return kind === other || kind === mark ? endOfSigns(text, start) : endOfRun(text, start);
}

function endOfLetters(text: string, start: number): number {
  let at = start;
  while (at < text.length) {
    const codePoint = codePointAt(text, at);
    if (!isLetter(classOf(codePoint))) break;
    at += widthOf(codePoint);
  }
  return at;
}

function isLetter(kind: number): boolean {
  return kind === lower || kind === upper || kind === bothCases;
}

function endOfSigns(text: string, start: number): number {
  let at = start;
  while (at < text.length) {
    const codePoint = codePointAt(text, at);
    const kind = classOf(codePoint);
    if (kind !== other && kind !== mark) break;
    at += widthOf(codePoint);
  }
  while (at < text.length && classOf(text.charCodeAt(at)) === newline) at += 1;
  return at;
}

/** White space that ends the text is one piece. */
function endOfRun(text: string, start: number): number {
  let at = start;
  while (at < text.length) {
    const kind = classOf(text.charCodeAt(at));
    if (kind !== space && kind !== newline) return endOfSpace(text, start);
    at += 1;
  }
  return at;
}
