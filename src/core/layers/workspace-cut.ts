// A text that is too long → its beginning and its end, and between them a line that says what is missing.
import { countBytes, cutMiddle } from "./cut-middle.ts";

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

/** A text within the limit stays as it is. */
export function cutText(text: string, limit: TextLimit): CutText {
  const bytesRead = countBytes(text);
  const bytesUnread = limit.bytesUnread ?? 0;
  if (bytesUnread === 0 && bytesRead <= limit.bytesMax) return { text, bytesLeftOut: 0 };
  const whole = bytesRead + bytesUnread;
  // The line is never longer than with the largest number it could name beside another.
  const lineBytes = countBytes(`\n\n${describeCut(whole - 1, whole, limit)}\n\n`);
  const room = Math.max(0, limit.bytesMax - lineBytes);
  const cut = cutMiddle(text, room, bytesUnread > 0 ? "the beginning" : "both ends");
  const bytesLeftOut = cut.bytesLeftOut + bytesUnread;
  const pieces = [cut.head, describeCut(bytesLeftOut, whole, limit), cut.tail];
  return { text: pieces.filter((piece) => piece !== "").join("\n\n"), bytesLeftOut };
}

function describeCut(bytesLeftOut: number, whole: number, { name, because }: TextLimit): string {
  const what = bytesLeftOut === whole ? `All ${whole}` : `${bytesLeftOut} of ${whole}`;
  const label = name.replaceAll(/\p{Cc}/gu, "?");
  return `[${what} bytes of ${label} are left out here: ${because}. Read the file for the rest.]`;
}
