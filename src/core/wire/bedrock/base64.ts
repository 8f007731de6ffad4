// Bytes in base64, as AWS writes them into JSON.

export function toBase64(pieces: Iterable<Uint8Array>): string {
  let binary = "";
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += atOnce) {
      binary += String.fromCharCode(...piece.subarray(at, at + atOnce));
    }
  }
  return btoa(binary);
}

/** A call takes only so many arguments. */
const atOnce = 8192;

const utf8 = new TextDecoder();

/** The text in UTF-8; undefined if it is none in base64. */
export function textInBase64(base64: string): string | undefined {
  try {
    const signs = atob(base64);
    // Most events are plain ASCII, whose bytes are its signs.
    if (/^[^\u0080-\u00ff]*$/.test(signs)) return signs;
    const bytes = new Uint8Array(signs.length);
    for (let at = 0; at < signs.length; at += 1) bytes[at] = signs.charCodeAt(at);
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
