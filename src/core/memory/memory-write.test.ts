import { describe, expect, test } from "vitest";
import { hashContent } from "../hash.ts";
import type { MemoryOperation } from "./change-memory.ts";
import { describeWrite, metadataOf, toMemoryEvents, toMemoryWrite } from "./memory-write.ts";

const adding: MemoryOperation = { kind: "add", entry: "b" };
const plain = toMemoryWrite("MEMORY.md", adding, {
  before: "a\n",
  after: "a\nb\n",
  isMerged: false,
});
const long = `${"x".repeat(2048)}\n`;
const over = toMemoryWrite("MEMORY.md", adding, { before: "", after: long, isMerged: false });

test("S-03: a write says which file, the hashes and sizes before and after, and the caps", () => {
  expect(plain).toEqual({
    file: "MEMORY.md",
    operation: "add",
    beforeHash: "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7",
    afterHash: hashContent("a\nb\n"),
    beforeSizeBytes: 2,
    afterSizeBytes: 4,
    isOverSoftCap: false,
    isOverHardCap: false,
    entriesEvicted: 0,
    isMerged: false,
    warnings: [],
  });
});

test("S-02: over the soft cap is larger than it", () => {
  const caps = [1536, 1537].map((bytes) => {
    const after = "x".repeat(bytes);
    return toMemoryWrite("USER.md", adding, { before: "", after, isMerged: false }).isOverSoftCap;
  });
  expect(caps).toEqual([false, true]);
});

describe("what the model reads (S-08)", () => {
  test("new total bytes, and S-15 soft hint in tool text", () => {
    expect(describeWrite(plain)).toBe("Added to MEMORY.md; it has 4 bytes now.");
    expect(describeWrite(over)).toBe(
      "Added to MEMORY.md; it has 2049 bytes now — over soft cap; consider memory_consolidate.",
    );
  });

  test("bytes before and after a consolidation", () => {
    const operation: MemoryOperation = { kind: "consolidate", content: "x" };
    const texts = { before: long, after: "x", isMerged: false };
    expect(describeWrite(toMemoryWrite("MEMORY.md", operation, texts))).toBe(
      "Consolidated MEMORY.md: 2049 → 1 bytes.",
    );
    const same = toMemoryWrite("MEMORY.md", operation, {
      before: "x",
      after: "x",
      isMerged: false,
    });
    expect(describeWrite(same)).toBe("MEMORY.md holds exactly this already; 1 bytes, unchanged.");
  });

  test("that changes made elsewhere were kept, and what is odd about the new words", () => {
    const operation: MemoryOperation = { kind: "replace", old: "a", new: "\u200bb" };
    const texts = { before: "a", after: "\u200bb", isMerged: true };
    expect(describeWrite(toMemoryWrite("USER.md", operation, texts))).toBe(
      "Replaced in USER.md; it has 4 bytes now. " +
        "USER.md was changed elsewhere meanwhile; those changes are kept. " +
        "Warning: this text has 1 invisible character (U+200B). Make sure that it is meant to be remembered.",
    );
  });

  test("metadata has hashes, sizes, the cap and the operation", () => {
    expect(metadataOf(over)).toEqual({
      file: "MEMORY.md",
      operation: "add",
      before_hash: hashContent(""),
      after_hash: hashContent(long),
      before_size_bytes: 0,
      after_size_bytes: 2049,
      over_soft_cap: true,
      merged: false,
      warnings: [],
    });
  });
});

describe("events", () => {
  test("S-09: a write that changed the file is an update; one that did not is nothing", () => {
    expect(toMemoryEvents(plain)).toEqual({
      updated: {
        file: "MEMORY.md",
        operation: "add",
        before_hash: hashContent("a\n"),
        after_hash: hashContent("a\nb\n"),
        before_size_bytes: 2,
        after_size_bytes: 4,
      },
      eviction: null,
    });
    const same = { before: "a", after: "a", isMerged: false };
    expect(toMemoryEvents(toMemoryWrite("USER.md", adding, same))).toBeNull();
  });

  test("S-10: over the soft cap nothing is evicted, and the event says so", () => {
    expect(toMemoryEvents(over)?.eviction).toEqual({
      file: "MEMORY.md",
      trigger: "size_cap_exceeded",
      entries_evicted: 0,
      size_before_bytes: 0,
      size_after_bytes: 2049,
    });
  });

  test("S-10: entries that a consolidation took out are counted as taken out by hand", () => {
    const operation: MemoryOperation = { kind: "consolidate", content: "a b\n" };
    const texts = { before: "a\n\nb\nc\n", after: "a b\n", isMerged: false };
    expect(toMemoryEvents(toMemoryWrite("USER.md", operation, texts))?.eviction).toEqual({
      file: "USER.md",
      trigger: "manual",
      entries_evicted: 2,
      size_before_bytes: 7,
      size_after_bytes: 4,
    });
  });
});
