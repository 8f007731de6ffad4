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

/** The text in UTF-8; undefined if it is none in base64. */
export function textInBase64(base64: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
    return new TextDecoder().decode(bytes);
  } catch {
    return undefined;
  }
}
