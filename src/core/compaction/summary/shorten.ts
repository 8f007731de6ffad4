// Shortens texts and says how much was left out.

/** Keeps both ends of a text. */
export function cutToCharacters(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const note = ` … ${text.length - charactersMax} characters left out … `;
  const room = Math.max(0, charactersMax - note.length);
  const head = wellFormed(text.slice(0, Math.ceil(room * 0.7)));
  return head + note + wellFormed(text.slice(text.length - Math.floor(room * 0.3)));
}

/** One line, cut at its end. */
export function toLine(text: string, charactersMax: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length <= charactersMax) return line;
  return `${wellFormed(line.slice(0, Math.max(0, charactersMax - 1))).trimEnd()}…`;
}

/** The beginning of a text within a number of tokens. Marks the cut. */
export function cutToTokens(
  text: string,
  tokensMax: number,
  countText: (text: string) => number,
): string {
  if (countText(text) <= tokensMax) return text;
  let [fits, tooMuch] = [0, text.length];
  while (tooMuch - fits > 1) {
    const middle = Math.floor((fits + tooMuch) / 2);
    if (countText(`${text.slice(0, middle)}…`) <= tokensMax) fits = middle;
    else tooMuch = middle;
  }
  return fits === 0 ? "" : `${wellFormed(text.slice(0, fits)).trimEnd()}…`;
}

/** Drops half a surrogate pair at a cut. */
export function wellFormed(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, "");
}
