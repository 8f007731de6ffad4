// Whether two passages repeat each other. Compares lines, because files are read and printed in lines.

/** A number for each line with enough text. */
export function sketchOf(text: string): ReadonlySet<number> {
  const lines = new Set<number>();
  for (const line of text.split("\n")) {
    // Files are shown with or without line numbers.
    const plain = line.replace(/^\s*\d+\s*[\t→|:-]?/u, "").trim();
    if (plain.length >= lineCharactersMin) lines.add(hashLine(plain));
  }
  return lines;
}

const lineCharactersMin = 4;

export function countShared(a: ReadonlySet<number>, b: ReadonlySet<number>): number {
  let shared = 0;
  for (const each of a) if (b.has(each)) shared += 1;
  return shared;
}

function hashLine(line: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < line.length; at += 1) {
    hash = Math.imul(hash ^ line.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}
