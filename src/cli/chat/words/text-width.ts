// The width of text on a terminal, and text fitted to a width. A character here is a grapheme.

/** In columns; expects no line breaks and no control characters. */
export function widthOf(text: string): number {
  if (isNarrow(text)) return text.length;
  let width = 0;
  for (const character of charactersOf(text)) width += widthOfCharacter(character);
  return width;
}

export function charactersOf(text: string): readonly string[] {
  return isNarrow(text)
    ? text.split("")
    : Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/**
 * Wraps one line to a width, at spaces and beside wide characters where possible. More text at the end changes only
 * the last line.
 */
export function wrapLine(text: string, width: number): readonly string[] {
  const flat = text.replaceAll("\t", "    ");
  if (isNarrow(flat) && flat.length <= width) return [flat];
  const lines: string[] = [];
  let [line, used, breakAt] = ["", 0, 0];
  for (const character of charactersOf(flat)) {
    const wide = widthOfCharacter(character);
    if (wide === 2 && line.trim() !== "") breakAt = line.length;
    if (used + wide > width && line !== "") {
      const isSpace = character === " ";
      const cut = isSpace || breakAt === 0 ? line.length : breakAt;
      lines.push(line.slice(0, cut).trimEnd());
      line = line.slice(cut);
      used = widthOf(line);
      breakAt = 0;
      if (isSpace) continue;
    }
    line += character;
    used += wide;
    if (wide === 2 || (character === " " && line.trim() !== "")) breakAt = line.length;
  }
  return line === "" && lines.length > 0 ? lines : [...lines, line];
}

/** Cuts text to a width; cut text ends with an ellipsis. */
export function cutToWidth(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let [cut, used] = ["", 0];
  for (const character of charactersOf(text)) {
    used += widthOfCharacter(character);
    if (used > width - 1) break;
    cut += character;
  }
  return width < 1 ? "" : `${cut}…`;
}

export function padToWidth(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

function isNarrow(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

function widthOfCharacter(character: string): number {
  if (isNarrow(character)) return character.length;
  if (/^[\p{M}\p{Cf}\p{Cc}]+$/u.test(character)) return 0;
  return isWide(character) ? 2 : 1;
}

function isWide(character: string): boolean {
  // An emoji presentation sequence.
  if (character.includes("\ufe0f")) return /\p{Extended_Pictographic}|[0-9#*]/u.test(character);
  return (
    /^[\p{Emoji_Presentation}\p{Regional_Indicator}]/u.test(character) || eastAsian.test(character)
  );
}

/** Wide and fullwidth, by UAX #11. */
const eastAsian =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]/u;

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
