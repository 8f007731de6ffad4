// Shortens a long tool output to its beginning and end, with a line between them about what is missing.
import { countBytes, cutMiddle, type MiddleCut } from "../layers/cut-middle.ts";

export interface OutputCut {
  readonly text: string;
  readonly bytesLeftOut: number;
}

/** What was left out and where, for the line. */
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
