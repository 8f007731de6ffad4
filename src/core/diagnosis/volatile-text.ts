// Finds text that changes with every call: clocks, UUIDs, random ids. Every pattern is linear in the text.

export type VolatileKind = "clock" | "uuid" | "random id";

export interface VolatileText {
  readonly kind: VolatileKind;
  /** Index of the first character. */
  readonly at: number;
  readonly text: string;
}

/** The first of each kind. */
export function findVolatile(text: string): readonly VolatileText[] {
  const uuid = firstMatch(text, uuidPattern, "uuid");
  return [firstClock(text), uuid, firstRandomId(text)].filter((found) => found !== null);
}

// Patterns have a fixed number of characters, or end with the run of characters they begin with: none can
// be tried again from within what it has already seen.

const clockPatterns: readonly RegExp[] = [
  // A day alone may stand in a prompt; a time of day may not.
  /\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/,
  /(?<![\d:])\d{2}:\d{2}:\d{2}(?![\d:])/,
  /(?<![\d:])\d{1,2}:\d{2} ?[AaPp][Mm](?![A-Za-z])/,
  // Seconds and milliseconds since 1970, from 2017 on.
  /(?<![\d.])1[5-9]\d{8}(?:\d{3})?(?![\d])/,
];

const uuidPattern =
  /(?<![\dA-Za-z])[\da-fA-F]{8}-[\da-fA-F]{4}-[\da-fA-F]{4}-[\da-fA-F]{4}-[\da-fA-F]{12}(?![\dA-Za-z])/;

function firstMatch(text: string, pattern: RegExp, kind: VolatileKind): VolatileText | null {
  const match = pattern.exec(text);
  return match === null ? null : { kind, at: match.index, text: match[0] };
}

function firstClock(text: string): VolatileText | null {
  return clockPatterns.reduce<VolatileText | null>((first, pattern) => {
    const found = firstMatch(text, pattern, "clock");
    if (found === null) return first;
    return first === null || found.at < first.at ? found : first;
  }, null);
}

/** Shorter ones are words, longer ones are content. */
const idLengthMin = 16;
const idLengthMax = 128;

const word = /[\dA-Za-z_]{16,}/g;

function firstRandomId(text: string): VolatileText | null {
  for (const match of text.matchAll(word)) {
    const id = match[0].slice(match[0].lastIndexOf("_") + 1);
    if (id.length < idLengthMin || match[0].length > idLengthMax || !isRandom(id)) continue;
    return { kind: "random id", at: match.index, text: match[0] };
  }
  return null;
}

/** Hexadecimal digits of both kinds; or letters and digits that change kind too often for words. */
function isRandom(id: string): boolean {
  let digits = 0;
  let changes = 0;
  let before = "";
  let isHex = true;
  for (const character of id) {
    const kind = kindOf(character);
    if (kind === "digit") digits += 1;
    if (before !== "" && kind !== before) changes += 1;
    before = kind;
    isHex &&= /[\da-fA-F]/.test(character);
  }
  if (digits < 3 || digits === id.length) return false;
  return isHex || changes * 3 >= id.length;
}

function kindOf(character: string): string {
  if (character >= "0" && character <= "9") return "digit";
  return character >= "a" ? "small" : "capital";
}
