// Cuts text into pieces, for providers that keep any prefix of it.

/** Beyond this length a piece ends at the next good place: after about a dozen words or a line of code. */
const pieceMin = 64;
/** A piece ends here at the latest. Chinese has about one token per character, so less than a step of 128 is lost. */
const pieceMax = 96;

/** Texts with the same beginning give the same first pieces. The pieces joined are the text. */
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
/** Without the apostrophe, which can belong to the word before it. */
const sign = /[^\s\p{L}\p{M}\p{N}']/u;

/** Where a token always ends, so that the cut does not change the token count. */
function isGoodPlace(text: string, at: number): boolean {
  const before = text.charAt(at - 1);
  const after = text.charAt(at);
  if (after === " ") return !isSpace(before);
  // A sign, line ends and a slash can form one token.
  if (before === "\n") return !["\n", "\r", "/"].includes(after);
  return letter.test(before) && sign.test(after);
}

function isSpace(character: string): boolean {
  return /\s/.test(character);
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
