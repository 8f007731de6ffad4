// A tool's output that is too long for a prompt → its beginning and its end, and a line between them that says what is missing.
import { countBytes, cutMiddle, type MiddleCut } from "../layers/cut-middle.ts";

export interface OutputCut {
  readonly text: string;
  readonly bytesLeftOut: number;
}

/** The place of what is left out, for the line that says so. */
export type LeftOut = Omit<MiddleCut, "head" | "tail">;

/** The line comes on top of the limit. */
export function cutOutput(
  text: string,
  bytesMax: number,
  describe: (left: LeftOut) => string,
): OutputCut {
  if (countBytes(text) <= bytesMax) return { text, bytesLeftOut: 0 };
  const { head, tail, ...left } = cutMiddle(text, bytesMax);
  return { text: `${head}\n\n[${describe(left)}]\n\n${tail}`, bytesLeftOut: left.bytesLeftOut };
}
