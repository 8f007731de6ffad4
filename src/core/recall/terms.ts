// The search terms of a text: words, parts of identifiers, and whole identifiers.
import { isJoiner, isJoint, kindOf, type CharacterKind } from "./characters.ts";

/** Called with each term and the place where it, or the identifier around it, begins. */
export type VisitTerm = (term: string, at: number) => void;

/** Longer runs are data, not names: only their words count. */
const runCharactersMax = 300;
/** Only the beginning of a longer word counts, as of base64. */
const wordCharactersMax = 128;

/**
 * `src/foo-barBaz.ts:12` has the terms `src`, `foo`, `barbaz`, `bar`, `baz`, `ts`, `12`, `src/foo-barbaz.ts`
 * and all of it. Ignores case. Scripts without spaces give single characters and pairs. Linear time for any
 * text.
 */
export function visitTerms(text: string, visit: VisitTerm): void {
  for (let at = 0; at < text.length;) at = visitRun(text, at, visit);
}

export function termsOf(text: string): ReadonlySet<string> {
  const terms = new Set<string>();
  visitTerms(text, (term) => terms.add(term));
  return terms;
}

/** Visits a run of joined words. Returns where the next run can begin. */
function visitRun(text: string, start: number, visit: VisitTerm): number {
  let [at, words, first, last, hasJoint] = [start, 0, start, start, false];
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (isJoiner(code)) {
      hasJoint ||= words > 0 && isJoint(code);
      at += 1;
      continue;
    }
    const end = visitWord(text, at, visit);
    if (end === at) break;
    if (words === 0) first = at;
    words += 1;
    at = end;
    last = end;
  }
  if (words > 1 && last - first <= runCharactersMax) visitWhole(text, first, last, hasJoint, visit);
  return at === start ? at + 1 : at;
}

/** The whole run is one name, with and without the part after `:` or `=`. */
function visitWhole(
  text: string,
  from: number,
  to: number,
  hasJoint: boolean,
  visit: VisitTerm,
): void {
  const whole = toPlain(text.slice(from, to));
  visit(whole, from);
  if (!hasJoint) return;
  for (const piece of whole.split(/[:=#@+~$%\\]+/u)) {
    const name = piece.replace(/^[./-]+|[./-]+$/gu, "");
    if (/[./-]/u.test(name) && name !== whole) visit(name, from);
  }
}

/** The end of the word that begins here, or `start` if none does. */
function visitWord(text: string, start: number, visit: VisitTerm): number {
  let at = start;
  let [isSimple, isAscii] = [true, true];
  let before: CharacterKind = "none";
  while (at < text.length) {
    const kind = kindOf(text, at);
    if (kind === "none") break;
    if (kind === "unspaced") {
      if (at === start) return visitUnspaced(text, at, visit);
      break;
    }
    // `Word`, `word`, `WORD` and `12` have no parts.
    isSimple &&=
      before === "none" ||
      kind === before ||
      (kind === "lower" && before === "upper" && at === start + 1);
    isAscii &&= text.charCodeAt(at) < 128;
    before = kind;
    at += text.charCodeAt(at) >= 0xd800 && text.charCodeAt(at) < 0xdc00 ? 2 : 1;
  }
  if (at === start) return start;
  const word = text.slice(start, Math.min(at, start + wordCharactersMax));
  visit(isAscii ? word.toLowerCase() : toPlain(word), start);
  if (!isSimple) visitParts(word, start, visit);
  return at;
}

const parts = /\p{Lu}+(?![\p{Ll}\p{M}])|\p{Lu}?[\p{Ll}\p{M}]+|\p{N}+|[^\p{Lu}\p{Ll}\p{M}\p{N}_]+/gu;

/** The parts of `fooBar`, `foo_bar`, `HTTPServer`, `E1234`. */
function visitParts(word: string, at: number, visit: VisitTerm): void {
  const found = word.match(parts) ?? [];
  if (found.length === 1 && found[0] === word) return;
  for (const part of found) if (part.length > 1) visit(toPlain(part), at);
}

/** Each character and each pair. */
function visitUnspaced(text: string, start: number, visit: VisitTerm): number {
  let [at, before] = [start, ""];
  while (at < text.length && kindOf(text, at) === "unspaced") {
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    visit(toPlain(character), at);
    if (before !== "") visit(toPlain(before + character), at - before.length);
    before = character;
    at += character.length;
  }
  return at;
}

/** Maps wide, joined and old forms of a character to that character. */
function toPlain(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}
