// The search terms of a text: words, parts of identifiers, and whole identifiers.

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

/** `unspaced` are letters of scripts without spaces between words. */
type CharacterKind = "none" | "lower" | "upper" | "digit" | "underscore" | "unspaced";

const kinds: readonly CharacterKind[] = [
  "none",
  "lower",
  "upper",
  "digit",
  "underscore",
  "unspaced",
];

/** Per code unit, the index in the list above plus one. 0 means not computed yet. */
const known = new Uint8Array(0x10000);

function kindOf(text: string, at: number): CharacterKind {
  const code = text.charCodeAt(at);
  if (code >= 0xd800 && code < 0xe000) return findKind(text.codePointAt(at) ?? 0);
  const place = known[code] ?? 0;
  if (place > 0) return kinds[place - 1] ?? "none";
  const kind = findKind(code);
  known[code] = kinds.indexOf(kind) + 1;
  return kind;
}

const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

function findKind(code: number): CharacterKind {
  const character = String.fromCodePoint(code);
  if (character === "_") return "underscore";
  if (!/[\p{L}\p{M}\p{N}]/u.test(character)) return "none";
  if (unspaced.test(character)) return "unspaced";
  if (/\p{Lu}/u.test(character)) return "upper";
  return /\p{N}/u.test(character) ? "digit" : "lower";
}

const joiners = toTable("./:@#%+~$=-\\");
const joints = toTable(":@#%+~$=\\");

/** A character between the words of a path, a version, a flag or an address. */
function isJoiner(code: number): boolean {
  return code < 128 && joiners[code] === 1;
}

/** A joiner that may also separate two names: `KEY=value`, `file.ts:12`. */
function isJoint(code: number): boolean {
  return code < 128 && joints[code] === 1;
}

function toTable(characters: string): Uint8Array {
  const table = new Uint8Array(128);
  for (let at = 0; at < characters.length; at += 1) table[characters.charCodeAt(at)] = 1;
  return table;
}
