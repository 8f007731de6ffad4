// What is known about one identifier: who wrote it, where it stood, and how long ago that was.
import type { IdentifierKind } from "./classify.ts";

export interface Mention {
  readonly text: string;
  readonly kind: IdentifierKind;
  /** Messages in which the agent wrote it, in its words or in a tool's input. */
  readonly writes: number;
  readonly occurrences: number;
  /** Messages in which the user wrote it. */
  readonly asks: number;
  /** Results of failed tools it stood in. */
  readonly errors: number;
  /** Messages from its last one to the end of the folded part; grows with every later fold. */
  readonly age: number;
}

/** The same identifier before and after a boundary between two folded parts. */
export function joinMentions(older: Mention, newer: Mention): Mention {
  return {
    ...newer,
    writes: older.writes + newer.writes,
    occurrences: older.occurrences + newer.occurrences,
    asks: older.asks + newer.asks,
    errors: older.errors + newer.errors,
  };
}

/** Longer identifiers say what their parts say: a path its folders and its file name, a member its owner. */
export function partsOf({ text, kind }: Pick<Mention, "text" | "kind">): readonly string[] {
  const mark = separators[kind];
  if (mark === undefined) return [];
  const edges = edgesOf(text, mark);
  const parts = new Set<string>();
  for (const [from, start] of edges.entries()) {
    for (const [to, end] of edges.entries()) {
      const isAtSide = from === 0 || to === edges.length - 1;
      // All of them would be many in a long one; those at either end are what people write.
      if (to <= from || (edges.length > edgesMax && !isAtSide)) continue;
      parts.add(text.slice(start, end - 1));
      // What stands behind the mark at the front of a path is read with it and without.
      if (start > 0 && mark === "/") parts.add(text.slice(start - 1, end - 1));
    }
  }
  parts.delete(text);
  parts.delete("");
  return [...parts];
}

const separators: Readonly<Partial<Record<IdentifierKind, string>>> = {
  path: "/",
  url: "/",
  name: "/",
  dotted: ".",
};

const edgesMax = 9;

/** Where parts begin; the last place is behind the end. */
function edgesOf(text: string, mark: string): readonly number[] {
  const edges = [0];
  for (
    let at = text.indexOf(mark);
    at !== -1 && edges.length < 64;
    at = text.indexOf(mark, at + 1)
  ) {
    edges.push(at + 1);
  }
  return [...edges, text.length + 1];
}
