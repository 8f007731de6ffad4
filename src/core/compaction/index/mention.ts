// What is known about one identifier: who wrote it, where, and how long ago.
import type { IdentifierKind } from "./classify.ts";

export interface Mention {
  readonly text: string;
  readonly kind: IdentifierKind;
  /** Messages in which the agent wrote it, in text or in a tool's input. */
  readonly writes: number;
  readonly occurrences: number;
  /** Messages in which the user wrote it. */
  readonly asks: number;
  /** Results of failed tools that contain it. */
  readonly errors: number;
  /** Messages from its last mention to the end of the compacted part. Grows with every later compaction. */
  readonly age: number;
}

/** Merges the same identifier from two consecutive compacted parts. */
export function joinMentions(older: Mention, newer: Mention): Mention {
  return {
    ...newer,
    writes: older.writes + newer.writes,
    occurrences: older.occurrences + newer.occurrences,
    asks: older.asks + newer.asks,
    errors: older.errors + newer.errors,
  };
}

/** What a longer identifier contains: a path its folders and file name, a member its owner, each one its words. */
export function partsOf({ text, kind }: Pick<Mention, "text" | "kind">): readonly string[] {
  const mark = separators[kind];
  const starts = mark === undefined ? [] : startsOf(text, mark);
  const parts = new Set<string>();
  for (const [from, start] of starts.entries()) {
    for (const [to, end] of starts.entries()) {
      const isAtSide = from === 0 || to === starts.length - 1;
      // A long one has too many parts; people write those at either end.
      if (to <= from || (starts.length > startsMax && !isAtSide)) continue;
      parts.add(text.slice(start, end - 1));
      // Inside a path, a part is written with or without the leading mark.
      if (start > 0 && mark === "/") parts.add(text.slice(start - 1, end - 1));
    }
  }
  for (const word of text.split(/[^\p{L}\p{N}_]+/u)) parts.add(word);
  parts.delete(text);
  parts.delete("");
  return [...parts];
}

/** What it shares with others in the text of an index: a path its folder, a member its owner. Empty if nothing. */
export function groupOf({ text, kind }: Pick<Mention, "text" | "kind">): string {
  if (kind === "path") return text.slice(0, text.lastIndexOf("/", text.length - 2) + 1);
  return kind === "dotted" ? text.slice(0, text.lastIndexOf(".") + 1) : "";
}

const separators: Readonly<Partial<Record<IdentifierKind, string>>> = {
  path: "/",
  url: "/",
  name: "/",
  dotted: ".",
};

const startsMax = 9;

/** Where parts begin. The last place is after the end. */
function startsOf(text: string, mark: string): readonly number[] {
  const starts = [0];
  for (
    let at = text.indexOf(mark);
    at !== -1 && starts.length < 64;
    at = text.indexOf(mark, at + 1)
  ) {
    starts.push(at + 1);
  }
  return [...starts, text.length + 1];
}
