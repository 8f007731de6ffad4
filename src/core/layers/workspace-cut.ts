// A text that is too long → its beginning and its end, and between them a line that says what is missing.

export interface TextLimit {
  /** Of the result, the line included. Where not even the line fits, the line is the result. */
  readonly bytesMax: number;
  /** What the text is called in the line. */
  readonly name: string;
  /** Why it is cut, as the line says it. */
  readonly because: string;
  /** What comes after the text and was not even read. Then there is no end to show. */
  readonly bytesUnread?: number;
}

export interface CutText {
  readonly text: string;
  readonly bytesLeftOut: number;
}

/** Cut between characters, the beginning to the end as 7 to 2. A text within the limit stays as it is. */
export function cutText(text: string, limit: TextLimit): CutText {
  const bytes = encoder.encode(text);
  const bytesUnread = limit.bytesUnread ?? 0;
  if (bytesUnread === 0 && bytes.length <= limit.bytesMax) return { text, bytesLeftOut: 0 };
  const whole = bytes.length + bytesUnread;
  // The line is never longer than with the largest number it could name beside another.
  const lineBytes = encoder.encode(`\n\n${describeCut(whole - 1, whole, limit)}\n\n`).length;
  const room = Math.max(0, limit.bytesMax - lineBytes);
  const endBytes = bytesUnread > 0 ? 0 : Math.floor((room * 2) / 9);
  const headEnd = toBoundary(bytes, Math.min(room - endBytes, bytes.length), -1);
  const endStart = toBoundary(bytes, bytes.length - endBytes, 1);
  const bytesLeftOut = endStart - headEnd + bytesUnread;
  const pieces = [
    decoder.decode(bytes.subarray(0, headEnd)),
    describeCut(bytesLeftOut, whole, limit),
    decoder.decode(bytes.subarray(endStart)),
  ];
  return { text: pieces.filter((piece) => piece !== "").join("\n\n"), bytesLeftOut };
}

export function countBytes(text: string): number {
  return encoder.encode(text).length;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function describeCut(bytesLeftOut: number, whole: number, { name, because }: TextLimit): string {
  const what = bytesLeftOut === whole ? `All ${whole}` : `${bytesLeftOut} of ${whole}`;
  const label = name.replaceAll(/\p{Cc}/gu, "?");
  return `[${what} bytes of ${label} are left out here: ${because}. Read the file for the rest.]`;
}

/** The nearest place in one direction where a character starts. */
function toBoundary(bytes: Uint8Array, place: number, direction: 1 | -1): number {
  let at = place;
  while (at > 0 && at < bytes.length && isInsideCharacter(bytes[at])) at += direction;
  return at;
}

/** UTF-8: every byte of a character but the first is 10xxxxxx. */
function isInsideCharacter(byte: number | undefined): boolean {
  return byte !== undefined && byte >> 6 === 2;
}
