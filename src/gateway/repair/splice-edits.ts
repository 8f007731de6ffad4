// Puts other bytes in place of some in a client's body. All the others are pieces of its own, not written anew.
import { assert } from "../../core/assert.ts";
import type { Span } from "../../core/message/json-text.ts";
import type { BodyBytes } from "../observe/body-bytes.ts";

/** In place of the bytes of a span. */
export interface Edit extends Span {
  readonly text: string | Buffer;
}

export interface Spliced {
  /** In order. The client's bytes are not copied. */
  readonly pieces: readonly Uint8Array[];
  readonly byteLength: number;
  /** Whether any byte differs. */
  readonly isChanged: boolean;
}

/** A place in a body cannot be found, or can be read in two ways. */
export class Unclear extends Error {}

/** Throws `Unclear` if two edits overlap. */
export function spliceEdits(bytes: BodyBytes, edits: readonly Edit[]): Spliced {
  const pieces: Uint8Array[] = [];
  let from = 0;
  let byteLength = bytes.length;
  // The sort is stable, so removals at an offset come before insertions there.
  for (const { start, end, text } of edits.toSorted(
    (left, right) => left.start - right.start || left.end - right.end,
  )) {
    if (start < from) throw new Unclear();
    pieces.push(...bytes.slices(from, start));
    const added = typeof text === "string" ? Buffer.from(text) : text;
    if (added.length > 0) pieces.push(added);
    byteLength += added.length - (end - start);
    from = end;
  }
  pieces.push(...bytes.slices(from, bytes.length));
  const written = pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
  assert(written === byteLength, "the bytes around the edits are those of the client");
  return { pieces, byteLength, isChanged: edits.length > 0 };
}
