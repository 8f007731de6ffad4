// The character classes that the o200k splitting rule distinguishes.

export const characterClass = {
  unknown: 0,
  /** Everything else: punctuation, symbols, unassigned, lone surrogates. */
  other: 1,
  /** Lu and Lt. */
  upper: 2,
  /** Ll. */
  lower: 3,
  /** Lm and Lo: letters that count as both upper and lower. */
  bothCases: 4,
  /** M: counts as both cases inside a word and as punctuation outside. */
  mark: 5,
  number: 6,
  /** White_Space without CR and LF. */
  space: 7,
  /** CR and LF. */
  newline: 8,
} as const;

/** One byte per code point, filled on first use. */
const known = new Uint8Array(0x110000);

export function classOf(codePoint: number): number {
  const found = known[codePoint]!;
  if (found !== characterClass.unknown) return found;
  const computed = classify(String.fromCodePoint(codePoint));
  known[codePoint] = computed;
  return computed;
}

// White_Space, not \s: JavaScript's \s includes U+FEFF and lacks U+0085; the original uses Unicode's.
function classify(character: string): number {
  if (character === "\n" || character === "\r") return characterClass.newline;
  if (/\p{White_Space}/u.test(character)) return characterClass.space;
  if (/[\p{Lu}\p{Lt}]/u.test(character)) return characterClass.upper;
  if (/\p{Ll}/u.test(character)) return characterClass.lower;
  if (/[\p{Lm}\p{Lo}]/u.test(character)) return characterClass.bothCases;
  if (/\p{M}/u.test(character)) return characterClass.mark;
  if (/\p{N}/u.test(character)) return characterClass.number;
  return characterClass.other;
}
