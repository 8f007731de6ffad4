// Cuts text where its beginning can be counted alone, for providers that keep any prefix in steps.

/** About a hundred tokens: finer than the step in which reads are reported. */
const pieceMin = 400;
const pieceMax = 4_000;

/** Texts that begin alike give the same first pieces. Joined, the pieces are the text. */
export function cutText(text: string): readonly string[] {
  const pieces: string[] = [];
  let start = 0;
  for (let at = 1; at < text.length; at += 1) {
    const length = at - start;
    if (length < pieceMin) continue;
    // Before a space that ends a word the tokenizer starts anew, so no token is lost or won there.
    const isWordEnd = text[at] === " " && !isSpace(text.charCodeAt(at - 1));
    if (isWordEnd || (length >= pieceMax && !isLowSurrogate(text.charCodeAt(at)))) {
      pieces.push(text.slice(start, at));
      start = at;
    }
  }
  return [...pieces, text.slice(start)];
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
