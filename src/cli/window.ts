// The width of the window that output goes to, and text that is wrapped to it between words.
import { stripVTControlCharacters } from "node:util";
import { widthOf, wrapLine } from "./chat/words/text-width.ts";

/** Infinite where the output is no terminal: a file or another program gets whole lines. */
export function windowColumns(
  { isTTY, columns }: Pick<typeof process.stdout, "isTTY" | "columns"> = process.stdout,
): number {
  return isTTY && columns > 0 ? columns : Number.POSITIVE_INFINITY;
}

/** The lines of a text; a word longer than the width keeps its own line. */
export function wrapWords(text: string, width: number): readonly string[] {
  if (width === Number.POSITIVE_INFINITY) return text.split("\n");
  return text.split("\n").flatMap((line) => wrapLine(line, width));
}

/** Wraps the lines that do not fit; tables fit already. */
export function wrapLong(text: string, window: number = windowColumns()): string {
  const lines = text.split("\n").flatMap((line) => {
    const fits = widthOf(stripVTControlCharacters(line)) <= window;
    return fits ? [line] : wrapWords(line, window);
  });
  return lines.join("\n");
}
