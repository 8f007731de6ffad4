// Shortens a long text to its beginning and end, with a line between them about what is missing.
import { countBytes, cutMiddle } from "./cut-middle.ts";

export interface TextLimit {
  /**
   * The limit for the result, including the line. If only the line fits, it is the result; the line
   * itself is never cut.
   */
  readonly bytesMax: number;
  /** The text's name in the line. */
  readonly name: string;
  /** The reason, as the line states it. */
  readonly because: string;
  /** Bytes after the text that were not read. The end is then unknown and not shown. */
  readonly bytesUnread?: number;
}

export interface CutText {
  readonly text: string;
  readonly bytesLeftOut: number;
}

/** A text within the limit stays unchanged. */
export function cutText(text: string, limit: TextLimit): CutText {
  const bytesRead = countBytes(text);
  const bytesUnread = limit.bytesUnread ?? 0;
  if (bytesUnread === 0 && bytesRead <= limit.bytesMax) return { text, bytesLeftOut: 0 };
  const whole = bytesRead + bytesUnread;
  // Sized with the largest numbers, so that the real line is never longer.
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
