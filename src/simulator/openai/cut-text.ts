// Cuts text where its beginning can be counted alone, for providers that keep any prefix in steps.

/** From here on a piece ends at the next good place: a dozen words, or a line of code. */
const pieceMin = 64;
/** Here it ends anyway. Even Chinese takes about one token a character, so less than a step of 128 is lost. */
const pieceMax = 96;

/** Texts that begin alike give the same first pieces. Joined, the pieces are the text. */
export function cutText(text: string): readonly string[] {
  const pieces: string[] = [];
  let start = 0;
  for (let at = pieceMin; at < text.length; at += 1) {
    const isFull = at - start >= pieceMax && !isLowSurrogate(text.charCodeAt(at));
    if (!isFull && !isGoodPlace(text, at)) continue;
    pieces.push(text.slice(start, at));
    start = at;
    at += pieceMin - 1;
  }
  return [...pieces, text.slice(start)];
}

const letter = /[\p{L}\p{M}]/u;
/** An apostrophe may belong to the word before it. */
const sign = /[^\s\p{L}\p{M}\p{N}']/u;

/** Where the tokenizer starts anew whatever follows, so that no token is lost or won. */
function isGoodPlace(text: string, at: number): boolean {
  const before = text.charAt(at - 1);
  const after = text.charAt(at);
  if (after === " ") return !isSpace(before);
  // Signs, line ends and slashes may be one token.
  if (before === "\n") return !["\n", "\r", "/"].includes(after);
  return letter.test(before) && sign.test(after);
}

function isSpace(character: string): boolean {
  return /\s/.test(character);
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
