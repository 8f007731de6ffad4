// Finds the exact identifiers in a text, in one pass, for the index of a compaction.
import { classifyWord, type IdentifierKind } from "./classify.ts";

export interface Identifier {
  readonly text: string;
  readonly kind: IdentifierKind;
}

/**
 * Every identifier in order, including repeated ones: paths, file names, symbols, ids, URLs, hosts, versions,
 * flags, codes, and numbers with units. Linear time for any text.
 */
export function* extractIdentifiers(text: string): Generator<Identifier, void> {
  let at = 0;
  while (at < text.length) {
    if (!isInner(text.charCodeAt(at))) {
      at += escapeLength(text, at);
      continue;
    }
    const end = endOfRun(text, at);
    // Longer runs are data, not names.
    if (end - at <= runCharactersMax && !isMemberOrTag(text, at, end)) {
      yield* identifiersOfRun(text.slice(at, end));
    }
    at = end;
  }
}

/** The same as a set, to check that a replacement text loses none. */
export function identifiersOf(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const identifier of extractIdentifiers(text)) found.add(identifier.text);
  return found;
}

const runCharactersMax = 300;

/** JSON inside a text writes a line break as a backslash and an n. That letter belongs to no word. */
function escapeLength(text: string, at: number): number {
  if (text.charCodeAt(at) !== backslash) return 1;
  const next = text[at + 1];
  return next === "n" || next === "t" || next === "r" ? 2 : 1;
}

/** `.map(` of `list().map(` is a member without its owner, `/div` of `</div>` the end of an element. */
function isMemberOrTag(text: string, start: number, end: number): boolean {
  const [before, first] = [text[start - 1], text.charCodeAt(start)];
  if (first === slash) return before === "<";
  if (first !== dot || text.charCodeAt(start + 1) === slash) return false;
  return text[end] === "(" || before === ")" || before === "]" || before === "?" || before === "!";
}

function endOfRun(text: string, start: number): number {
  const isDrive = isDrivePath(text, start);
  let isUrl = false;
  let at = start;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === slash && text.charCodeAt(at - 1) === slash && text.charCodeAt(at - 2) === colon) {
      isUrl ||= at - start > 3;
    }
    if (isInner(code) || (isUrl && isUrlOnly(code)) || (isDrive && code === backslash)) continue;
    break;
  }
  return at;
}

/** After `C:\` at the start, a backslash is part of the name. */
function isDrivePath(text: string, start: number): boolean {
  return (
    isLetter(text.charCodeAt(start)) &&
    text.charCodeAt(start + 1) === colon &&
    text.charCodeAt(start + 2) === backslash
  );
}

function* identifiersOfRun(run: string): Generator<Identifier, void> {
  const scheme = run.indexOf("://");
  if (scheme > 0 || isDrivePath(run, 0)) {
    yield* classified(trimEnd(run));
    return;
  }
  let start = 0;
  for (let at = 0; at <= run.length; at += 1) {
    if (at < run.length && !isSeparator(run, at)) continue;
    if (at > start) yield* classified(trimWord(run.slice(start, at)));
    start = at + 1;
  }
}

function* classified(word: string): Generator<Identifier, void> {
  const kind = classifyWord(word);
  if (kind !== null) yield { text: word, kind };
}

/** `KEY=value` and `file.ts:12` are two words; `host:80`, `@scope/name` and `#12` are one. */
function isSeparator(run: string, at: number): boolean {
  const code = run.charCodeAt(at);
  if (code === colon) return !(isPortBehind(run, at) && isHostBefore(run, at));
  if (code === atSign || code === hash) return at > 0 && !isSeparatorCode(run.charCodeAt(at - 1));
  return isSeparatorCode(code);
}

function isPortBehind(run: string, colonAt: number): boolean {
  let at = colonAt + 1;
  while (at < run.length && isDigit(run.charCodeAt(at))) at += 1;
  const digits = at - colonAt - 1;
  return digits >= 2 && digits <= 5 && (at === run.length || run.charCodeAt(at) === slash);
}

/** Only `localhost` or four numbers: `file.ts:12` is a place in a file. */
function isHostBefore(run: string, colonAt: number): boolean {
  const name = run.slice(0, colonAt);
  return /^(?:localhost|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})$/u.test(name);
}

/** Removes the characters that sentences, diffs and search results put around a word. */
function trimWord(word: string): string {
  let start = 0;
  while (start < word.length && isLeadingNoise(word, start)) start += 1;
  return cutLineNumber(trimEnd(word.slice(start)));
}

function isLeadingNoise(word: string, at: number): boolean {
  const [code, next] = [word.charCodeAt(at), word.charCodeAt(at + 1)];
  if (code === dash) return !(next === dash && isLetter(word.charCodeAt(at + 2)));
  // Hidden files and relative paths begin with a dot; an ellipsis does not count.
  if (code === dot) return !(next === slash || isLetter(next) || isParentPath(word, at));
  return code === slash && (next === slash || Number.isNaN(next));
}

function isParentPath(word: string, at: number): boolean {
  return word.charCodeAt(at + 1) === dot && word.charCodeAt(at + 2) === slash;
}

function trimEnd(word: string): string {
  let end = word.length;
  while (end > 0 && isTrailingNoise(word.charCodeAt(end - 1))) end -= 1;
  return word.slice(0, end);
}

/** Search tools print context lines as `file.ts-12-`. */
function cutLineNumber(word: string): string {
  let at = word.length;
  while (at > 0 && isDigit(word.charCodeAt(at - 1))) at -= 1;
  if (at === word.length || word.charCodeAt(at - 1) !== dash) return word;
  const point = word.lastIndexOf(".", at - 2);
  const extension = word.slice(point + 1, at - 1);
  return point > 0 && /^[a-z]{1,5}$/u.test(extension) ? word.slice(0, at - 1) : word;
}

const dash = 45;
const dot = 46;
const slash = 47;
const colon = 58;
const atSign = 64;
const hash = 35;
const backslash = 92;

const innerCodes = codesOf("_./:@#%+~$=-");
const separatorCodes = codesOf(":=#@+%$");
const urlOnlyCodes = codesOf("?&,;!*");
const trailingCodes = codesOf("-./:@#%+~$=?&,;!*\\");

function codesOf(characters: string): ReadonlySet<number> {
  return new Set(Array.from(characters, (character) => character.charCodeAt(0)));
}

function isInner(code: number): boolean {
  return isLetter(code) || isDigit(code) || innerCodes.has(code);
}

function isSeparatorCode(code: number): boolean {
  return separatorCodes.has(code);
}

function isUrlOnly(code: number): boolean {
  return urlOnlyCodes.has(code);
}

function isTrailingNoise(code: number): boolean {
  return trailingCodes.has(code);
}

/** Scripts with spaces between words: Latin, Greek, Cyrillic. In others a run is a sentence. */
function isLetter(code: number): boolean {
  if (code < 128) return (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
  return (code >= 0xc0 && code <= 0x24f) || (code >= 0x370 && code <= 0x52f);
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
