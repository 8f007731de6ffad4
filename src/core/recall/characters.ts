// The role of a character in a search: part of a word, a joiner inside a name, or neither.

/** `unspaced` are letters of scripts without spaces between words. */
export type CharacterKind = "none" | "lower" | "upper" | "digit" | "underscore" | "unspaced";

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

export function kindOf(text: string, at: number): CharacterKind {
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
export function isJoiner(code: number): boolean {
  return code < 128 && joiners[code] === 1;
}

/** A joiner that may also separate two names: `KEY=value`, `file.ts:12`. */
export function isJoint(code: number): boolean {
  return code < 128 && joints[code] === 1;
}

function toTable(characters: string): Uint8Array {
  const table = new Uint8Array(128);
  for (let at = 0; at < characters.length; at += 1) table[characters.charCodeAt(at)] = 1;
  return table;
}
