// Inserts markers into bytes that are kept without them. The bytes between stay the same.
import type { GrowingBytes } from "../growing/growing-bytes.ts";

export interface Insertion {
  readonly at: number;
  readonly json: string;
}

/** Inserts texts into the bytes, in the order of their places. */
export function splice(
  bytes: GrowingBytes,
  insertions: readonly Insertion[],
): (string | Uint8Array)[] {
  const parts: (string | Uint8Array)[] = [];
  let from = 0;
  for (const { at, json } of insertions.toSorted((left, right) => left.at - right.at)) {
    parts.push(bytes.slice(from, at), json);
    from = at;
  }
  parts.push(bytes.slice(from, bytes.length));
  return parts;
}
