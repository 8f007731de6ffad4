// Replaces a generated part of a page that is otherwise written by hand.

export interface GeneratedPart {
  readonly page: string;
  /** What the part is generated from. */
  readonly source: string;
  readonly part: string;
  readonly text: string;
}

/** Between the two lines that mark the part. */
export function replacePart(document: string, { page, source, part, text }: GeneratedPart): string {
  const begin = `<!-- ${part}: generated from ${source} by npm run fix -->`;
  const end = `<!-- end of ${part} -->`;
  const [before, rest] = cut(document, begin, page);
  const [, after] = cut(rest, end, page);
  return `${before}${begin}\n\n${text}\n${end}${after}`;
}

function cut(text: string, mark: string, page: string): readonly [string, string] {
  const index = text.indexOf(mark);
  if (index === -1) throw new Error(`${page} has no line ${mark}`);
  return [text.slice(0, index), text.slice(index + mark.length)];
}
