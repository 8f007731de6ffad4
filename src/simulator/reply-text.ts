// Cuts the text of a reply: to a limit of tokens, and into pieces for a stream. Never inside a character.

/** The longest beginning that fits, by binary search. */
export function longestFit(text: string, fits: (text: string) => boolean): string {
  if (fits(text)) return text;
  let fitting = 0;
  let tooLong = text.length;
  while (tooLong - fitting > 1) {
    const middle = Math.floor((fitting + tooLong) / 2);
    if (fits(text.slice(0, middle))) fitting = middle;
    else tooLong = middle;
  }
  const isTorn = /[\ud800-\udbff]$/.test(text.slice(0, fitting));
  return text.slice(0, isTorn ? fitting - 1 : fitting);
}

export function piecesOf(text: string, characters = 24): readonly string[] {
  return text.match(new RegExp(`.{1,${characters}}`, "gsu")) ?? [];
}
