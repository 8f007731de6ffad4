// Kinds of characters that vocabularies treat differently.

export const characterKind = {
  smallLetter: 1,
  capital: 2,
  digit: 3,
  space: 4,
  lineBreak: 5,
  /** ASCII punctuation and control characters. */
  mark: 6,
  /** Chinese, Japanese, Korean. */
  ideograph: 7,
  /** Arrows, boxes, dashes, signs. */
  symbol: 8,
  /** One half of a character beyond 16 bits, such as an emoji. */
  surrogate: 9,
  /** Letters with accents and of other scripts. */
  otherLetter: 10,
} as const;

/** The kind of one UTF-16 code unit. */
export function kindOf(code: number): number {
  return code < 0x80 ? asciiKinds[code]! : kindBeyondAscii(code);
}

const asciiKinds = Uint8Array.from({ length: 0x80 }, (_, code) => {
  if (code >= 0x61 && code <= 0x7a) return characterKind.smallLetter;
  if (code >= 0x41 && code <= 0x5a) return characterKind.capital;
  if (code >= 0x30 && code <= 0x39) return characterKind.digit;
  if (code === 0x20 || code === 0x09) return characterKind.space;
  return code === 0x0a || code === 0x0d ? characterKind.lineBreak : characterKind.mark;
});

function kindBeyondAscii(code: number): number {
  if (code >= 0xd800 && code <= 0xdfff) return characterKind.surrogate;
  if ((code >= 0x2e80 && code <= 0xd7af) || (code >= 0xf900 && code <= 0xfaff)) {
    return characterKind.ideograph;
  }
  return code >= 0x2000 && code < 0x2e80 ? characterKind.symbol : characterKind.otherLetter;
}
