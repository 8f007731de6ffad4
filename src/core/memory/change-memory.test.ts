import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cpuMsOf } from "../../../harness/measure.ts";
import { hashContent } from "../hash.ts";
import { changeMemory, type MemoryChange, type MemoryOperation } from "./change-memory.ts";
import { countBytes } from "../layers/cut-middle.ts";
import { memoryCaps, parseMemoryFile } from "./memory-file.ts";
import { describeRefusal, type MemoryRefusal } from "./memory-refusal.ts";

const free = { file: "MEMORY.md", seenHash: undefined, isDropConfirmed: false } as const;

function add(text: string, entry: string): MemoryChange {
  return changeMemory(text, { kind: "add", entry }, free);
}

function replace(text: string, old: string, by: string): MemoryChange {
  return changeMemory(text, { kind: "replace", old, new: by }, free);
}

function consolidate(text: string, content: string, isDropConfirmed = false): MemoryChange {
  const context = { ...free, seenHash: hashContent(text), isDropConfirmed };
  return changeMemory(text, { kind: "consolidate", content }, context);
}

function refused(refusal: MemoryRefusal): MemoryChange {
  return { kind: "refused", refusal };
}

describe("adding an entry", () => {
  test("S-15 newline discipline: an entry has a line of its own and ends it", () => {
    expect(add("", "Uses pnpm.")).toEqual({ kind: "changed", text: "Uses pnpm.\n" });
    expect(add("a\n", "b")).toEqual({ kind: "changed", text: "a\nb\n" });
    expect(add("a", "b")).toEqual({ kind: "changed", text: "a\nb\n" });
    expect(add("a\n\n", "b")).toEqual({ kind: "changed", text: "a\n\nb\n" });
  });

  test("S-05: it is trimmed, and a blank one is refused", () => {
    expect(add("", "  x \n")).toEqual({ kind: "changed", text: "x\n" });
    expect(add("a\n", " \n\t ")).toEqual(refused({ kind: "entry-blank" }));
  });

  test("H-14: what is there already is refused, with its line, whatever the bullet or spacing", () => {
    const text = "# Build\n- Uses  pnpm.\n* Two\n  lines\n";
    expect(add(text, "Uses pnpm.")).toEqual(refused({ kind: "entry-known", line: 2 }));
    expect(add(text, "- Two\nlines")).toEqual(refused({ kind: "entry-known", line: 3 }));
    expect(add(text, "Uses pnpm")).toMatchObject({ kind: "changed" });
    expect(add(text, "lines\nTwo")).toMatchObject({ kind: "changed" });
  });

  test("half a character is written as the replacement character, so that text and bytes agree", () => {
    expect(add("", "a\ud800b")).toEqual({ kind: "changed", text: "a\ufffdb\n" });
  });
});

describe("replacing a text", () => {
  test("S-15 unique replace: it must occur once, and the refusal says how often it does", () => {
    expect(replace("one two\n", "two", "three")).toEqual({ kind: "changed", text: "one three\n" });
    expect(replace("one\n", "two", "x")).toEqual(refused({ kind: "old-count", count: 0 }));
    expect(replace("a a a\n", "a", "x")).toEqual(refused({ kind: "old-count", count: 3 }));
    expect(replace("aaa\n", "aa", "x")).toEqual(refused({ kind: "old-count", count: 2 }));
    expect(describeRefusal("USER.md", { kind: "old-count", count: 3 })).toContain("3 times");
  });

  test("S-05: an empty file has nothing to replace, and nothing can be replaced by name of nothing", () => {
    expect(replace("", "a", "b")).toEqual(refused({ kind: "file-empty" }));
    expect(replace("a", "", "b")).toEqual(refused({ kind: "old-blank" }));
  });

  test("signs that mean something elsewhere mean themselves", () => {
    expect(replace("cost: X\n", "X", "$& $1 $$")).toEqual({
      kind: "changed",
      text: "cost: $& $1 $$\n",
    });
  });

  test("by itself it changes nothing", () => {
    expect(replace("a b\n", "b", "b")).toEqual({ kind: "same" });
  });
});

describe("consolidating", () => {
  test("S-15: to the empty text works", () => {
    expect(consolidate("a\n", "", true)).toEqual({ kind: "changed", text: "" });
  });

  test("#76035: below the soft cap, more than half goes only when that is confirmed", () => {
    const text = "12345678\n1\n";
    const question = { kind: "drop-unconfirmed", beforeBytes: 11, afterBytes: 5 } as const;
    expect(consolidate(text, "1234\n")).toEqual(refused(question));
    expect(consolidate(text, "1234\n", true)).toEqual({ kind: "changed", text: "1234\n" });
    expect(consolidate(text, "12345\n")).toEqual({ kind: "changed", text: "12345\n" });
    const large = `${"x".repeat(2048)}\n`;
    expect(consolidate(large, "x\n")).toEqual({ kind: "changed", text: "x\n" });
    expect(describeRefusal("MEMORY.md", question)).toContain("from 11 to 5 bytes");
  });

  test("CF-D CAS conflict: a text that was not seen is not replaced, and its hash is given", () => {
    const text = "somebody else's\n";
    const operation = { kind: "consolidate", content: "mine\n" } as const;
    const refusal = {
      kind: "changed-meanwhile",
      currentHash: hashContent(text),
      currentText: text,
    } as const;
    expect(changeMemory(text, operation, free)).toEqual(refused(refusal));
    const stale = { ...free, seenHash: hashContent("older\n") };
    expect(changeMemory(text, operation, stale)).toEqual(refused(refusal));
    expect(describeRefusal("MEMORY.md", refusal)).toContain(hashContent(text));
  });

  test("an empty file needs no seeing, and the same text changes nothing", () => {
    const operation = { kind: "consolidate", content: "mine\n" } as const;
    expect(changeMemory("", operation, free)).toEqual({ kind: "changed", text: "mine\n" });
    expect(changeMemory("mine\n", operation, free)).toEqual({ kind: "same" });
  });
});

describe("caps", () => {
  test("S-02: they are as the seed has them, in bytes", () => {
    expect(memoryCaps).toEqual({
      "MEMORY.md": { softBytes: 2048, hardBytes: 4096 },
      "USER.md": { softBytes: 1536, hardBytes: 3072 },
    });
  });

  test("S-15 hard rejected: a file may be as large as its hard cap, and not a byte larger", () => {
    const long = "é".repeat(2046);
    expect(add("1\n", `${long}x`)).toMatchObject({ kind: "changed" });
    expect(add("1\n", `${long}xy`)).toEqual(
      refused({ kind: "over-hard-cap", attemptedBytes: 4097, hardBytes: 4096 }),
    );
    const user = { ...free, file: "USER.md" } as const;
    expect(changeMemory("", { kind: "add", entry: "x".repeat(3072) }, user)).toEqual(
      refused({ kind: "over-hard-cap", attemptedBytes: 3073, hardBytes: 3072 }),
    );
  });

  test("S-06: they hold for every operation", () => {
    const over = { kind: "over-hard-cap", attemptedBytes: 4097, hardBytes: 4096 } as const;
    expect(replace("a", "a", "x".repeat(4097))).toEqual(refused(over));
    expect(consolidate("", "x".repeat(4097))).toEqual(refused(over));
  });
});

test("S-04: an unknown file is an error with the one that was meant", () => {
  expect(parseMemoryFile("USER.md")).toBe("USER.md");
  expect(() => parseMemoryFile("memory.md")).toThrow('"memory.md" is not a memory file');
});

const texts = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc
    .array(fc.constantFrom("a", "b", "- a", "", "c d"), { maxLength: 12 })
    .map((all) => all.join("\n")),
);

test("S-15 property: an entry that is added never makes the file smaller, and what was there stays", () => {
  fc.assert(
    fc.property(texts, texts, (start, entry) => {
      const text = start.toWellFormed();
      const change = add(text, entry);
      if (change.kind !== "changed") return;
      expect(countBytes(change.text)).toBeGreaterThan(countBytes(text));
      expect(change.text.startsWith(text)).toBe(true);
    }),
  );
});

test("S-15 property: consolidating twice is consolidating once", () => {
  fc.assert(
    fc.property(texts, texts, (start, content) => {
      const once = consolidate(start, content, true);
      const text = once.kind === "changed" ? once.text : start;
      expect(consolidate(text, content, true)).toEqual({ kind: "same" });
    }),
  );
});

test("property: whatever is asked for, what comes out is below the hard cap and well formed, or a refusal with words", () => {
  const operations = fc.oneof(
    fc.record({ kind: fc.constant("add" as const), entry: fc.string({ maxLength: 5000 }) }),
    fc.record({ kind: fc.constant("replace" as const), old: fc.string(), new: texts }),
    fc.record({ kind: fc.constant("consolidate" as const), content: texts }),
  );
  fc.assert(
    fc.property(texts, operations, fc.boolean(), (text, operation: MemoryOperation, isSeen) => {
      const seenHash = isSeen ? hashContent(text) : undefined;
      const change = changeMemory(text.toWellFormed(), operation, { ...free, seenHash });
      expect(isSound(change)).toBe(true);
    }),
  );
});

function isSound(change: MemoryChange): boolean {
  switch (change.kind) {
    case "same":
      return true;
    case "changed":
      return countBytes(change.text) <= 4096 && change.text.isWellFormed();
    case "refused":
      return describeRefusal("MEMORY.md", change.refusal).length > 10;
  }
}

test("texts that repeat themselves are looked through soon", () => {
  const cpuMs = cpuMsOf(() => {
    const lines = "a\n".repeat(100_000);
    expect(add(lines, `${"a\n".repeat(50_000)}b`)).toMatchObject({
      refusal: { kind: "over-hard-cap" },
    });
    const letters = "a".repeat(500_000);
    expect(replace(letters, "a".repeat(250_000), "b")).toEqual(
      refused({ kind: "old-count", count: 250_001 }),
    );
  });
  // It took a minute when each place was searched separately.
  expect(cpuMs).toBeLessThan(5000);
});
