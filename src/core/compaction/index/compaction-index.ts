// The index of a compaction: exact identifiers of the compacted part, as text for the model and as JSON for the
// next one.
import { isObject, listIn } from "../../message/fields.ts";
import type { CompactionIndex } from "./build-index.ts";
import { identifierKinds, type IdentifierKind } from "./classify.ts";
import type { Mention } from "./mention.ts";
import { parseInput } from "./tool-input.ts";

export { buildIndex, type CompactionIndex } from "./build-index.ts";
export { identifiersOf } from "./identifiers.ts";

export function encodeIndex({ entries, resting, text, tokens, leftOut }: CompactionIndex): string {
  return JSON.stringify({
    version: 1,
    text,
    tokens,
    leftOut,
    entries: entries.map(toRow),
    resting: resting.map(toRow),
  });
}

/** Null if the JSON is not an index. Unreadable rows count as left out. */
export function decodeIndex(json: string): CompactionIndex | null {
  const fields = parseInput(json);
  if (!isObject(fields) || typeof fields["text"] !== "string") return null;
  const entries = listIn(fields, "entries");
  const resting = listIn(fields, "resting");
  return {
    entries: entries.flatMap(fromRow),
    resting: resting.flatMap(fromRow),
    text: fields["text"],
    tokens: asCount(fields["tokens"]),
    leftOut: asCount(fields["leftOut"]) + entries.filter((row) => fromRow(row).length === 0).length,
  };
}

/** Fields by position, not by name: there are hundreds of rows. */
function toRow(mention: Mention): readonly (string | number)[] {
  const { text, kind, writes, occurrences, asks, errors, age } = mention;
  return [text, kind, writes, occurrences, asks, errors, age];
}

function fromRow(row: unknown): readonly Mention[] {
  if (!Array.isArray(row)) return [];
  const [text, kind, writes, occurrences, asks, errors, age]: unknown[] = row;
  if (typeof text !== "string" || text === "" || !isKind(kind)) return [];
  return [
    {
      text,
      kind,
      writes: asCount(writes),
      occurrences: asCount(occurrences),
      asks: asCount(asks),
      errors: asCount(errors),
      age: asCount(age),
    },
  ];
}

function isKind(value: unknown): value is IdentifierKind {
  const kinds: readonly unknown[] = identifierKinds;
  return kinds.includes(value);
}

function asCount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
