// A file of variables, NAME=value, as shells and programs read it.
import { lineEndOf, type TextFormat } from "./text-format.ts";

export const envText: TextFormat = {
  read: (text, [name = ""]) => findLines(text, name).at(-1)?.value,
  set: (text, [name = ""], value) => {
    const found = findLines(text, name).at(-1);
    const line = `${name}=${String(value)}`;
    if (found === undefined) {
      if (value === undefined) return text;
      const end = lineEndOf(text);
      const gap = text === "" || text.endsWith("\n") ? "" : end;
      return `${text}${gap}${line}${end}`;
    }
    const { start, end } = found;
    if (value !== undefined) return `${text.slice(0, start)}${line}${text.slice(end)}`;
    const after = text.slice(end).replace(/^\r?\n/, "");
    return `${text.slice(0, start)}${after}`;
  },
};

interface Line {
  readonly start: number;
  readonly end: number;
  readonly value: string;
}

/** Without quotes around the value. The last line of a name counts. */
function findLines(text: string, name: string): readonly Line[] {
  const lines: Line[] = [];
  for (const match of text.matchAll(/^[ \t]*(?:export[ \t]+)?([\w.]+)[ \t]*=[ \t]*([^\r\n]*)/gm)) {
    const [whole, found, raw = ""] = match;
    if (found !== name) continue;
    const bare = raw.trim();
    const quoted = /^(["'])(.*)\1$/.exec(bare)?.[2];
    lines.push({ start: match.index, end: match.index + whole.length, value: quoted ?? bare });
  }
  return lines;
}
