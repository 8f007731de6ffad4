import { describe, expect, test } from "vitest";
import { hashContent } from "../hash.ts";
import {
  decodeJournalEntry,
  encodeJournalEntry,
  entriesToDrop,
  findUndo,
  type JournalEntry,
} from "./memory-journal.ts";

function change(
  number: number,
  before: string,
  after: string,
  more: Partial<JournalEntry> = {},
): JournalEntry {
  return {
    number,
    atMs: 1000 + number,
    file: "MEMORY.md",
    operation: "add",
    undoes: null,
    before,
    afterHash: hashContent(after),
    afterSizeBytes: after.length,
    ...more,
  };
}

function undoOf(entries: readonly JournalEntry[], current: string): number | null {
  return findUndo(entries, "MEMORY.md", hashContent(current))?.number ?? null;
}

describe("which change an undo takes back", () => {
  const history = [change(1, "", "a"), change(2, "a", "ab"), change(3, "ab", "abc")];

  test("the last one, then the one before it, until there is none", () => {
    expect(undoOf(history, "abc")).toBe(3);
    const once = [...history, change(4, "abc", "ab", { operation: "undo", undoes: 3 })];
    expect(undoOf(once, "ab")).toBe(2);
    const twice = [...once, change(5, "ab", "a", { operation: "undo", undoes: 2 })];
    expect(undoOf(twice, "a")).toBe(1);
    const all = [...twice, change(6, "a", "", { operation: "undo", undoes: 1 })];
    expect(undoOf(all, "")).toBeNull();
  });

  test("not one that a crash kept from happening", () => {
    expect(undoOf([...history, change(4, "abc", "never")], "abc")).toBe(3);
  });

  test("one whose undo never happened, or does not lead to what is there any more", () => {
    const broken = change(4, "abc", "ab", { operation: "undo", undoes: 3 });
    expect(undoOf([...history, broken], "abc")).toBe(3);
    const back = change(5, "ab", "abc", { operation: "undo" });
    expect(undoOf([...history, broken, back], "abc")).toBe(5);
    const again = change(6, "abc", "ab", { operation: "undo", undoes: 5 });
    expect(undoOf([...history, broken, back, again], "ab")).toBe(2);
  });

  test("whatever numbers a journal claims, looking ends", () => {
    const loop = change(1, "b", "a", { operation: "undo", undoes: 99 });
    expect(undoOf([loop, change(2, "b", "a", { operation: "undo", undoes: 2 })], "a")).toBeNull();
  });

  test("none where the file was changed outside since", () => {
    expect(undoOf(history, "edited by hand")).toBeNull();
  });

  test("none of the other file, and the right one where a text came back", () => {
    expect(findUndo(history, "USER.md", hashContent("abc"))).toBeNull();
    const flips = [change(1, "a", "b"), change(2, "b", "a"), change(3, "a", "b")];
    expect(undoOf(flips, "b")).toBe(3);
    expect(undoOf([...flips, change(4, "b", "a", { operation: "undo", undoes: 3 })], "a")).toBe(2);
  });
});

function numbers(entries: readonly JournalEntry[]): number[] {
  return entries.map(({ number }) => number);
}

describe("room in the journal", () => {
  test("the oldest of each file go when there are too many", () => {
    const entries = [
      change(1, "", "a"),
      change(2, "x", "y", { file: "USER.md" }),
      change(3, "a", "b"),
    ];
    expect(numbers(entriesToDrop(entries, { versionsMax: 1, bytesMax: 100 }))).toEqual([1]);
  });

  test("the oldest go when they are too large, and the latest stays however large it is", () => {
    const entries = [change(1, "123", "a"), change(2, "123", "b"), change(3, "123456789", "c")];
    expect(numbers(entriesToDrop(entries, { versionsMax: 9, bytesMax: 12 }))).toEqual([1]);
    expect(numbers(entriesToDrop(entries, { versionsMax: 9, bytesMax: 1 }))).toEqual([2, 1]);
  });
});

describe("the text of an entry", () => {
  test("comes back as it was", () => {
    const entry = change(7, "ü\n\u2028", "x", { operation: "undo", undoes: 3 });
    expect(decodeJournalEntry(encodeJournalEntry(entry))).toEqual(entry);
  });

  test.each(["", "{", "null", "[]", '{"number":1}', '{"number":-1,"file":"MEMORY.md"}'])(
    "is nothing where it is damaged: %s",
    (text) => {
      expect(decodeJournalEntry(text)).toBeNull();
    },
  );
});
