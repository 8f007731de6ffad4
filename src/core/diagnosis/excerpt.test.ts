import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { byteLength, detach, excerptAt, sharedLength } from "./excerpt.ts";

describe("excerpts", () => {
  test("make control characters and hidden ones visible", () => {
    expect(excerptAt("a\nb\tc\r\u0000\u001b[31m\u202e\u200b\u2028\\", 0)).toBe(
      String.raw`a\nb\tc\r\u{0}\u{1b}[31m\u{202e}\u{200b}\u{2028}\\`,
    );
  });

  test("show what stands around the place, cut on both sides", () => {
    const text = `${"a".repeat(100)}X${"b".repeat(100)}`;
    expect(excerptAt(text, 100)).toBe(`…${"a".repeat(24)}X${"b".repeat(53)}…`);
    expect(excerptAt("short", 3)).toBe("short");
  });

  test("are never longer than 80 characters and hold no control character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), fc.nat(400), (text, at) => {
        const shown = excerptAt(text, at);
        expect(shown.length).toBeLessThanOrEqual(80);
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
      }),
    );
  });
});

describe("where texts part", () => {
  test("is counted in characters, never inside a pair of surrogates", () => {
    expect(sharedLength("abc", "abd")).toBe(2);
    expect(sharedLength("abc", "abc")).toBe(3);
    expect(sharedLength("ab", "abc")).toBe(2);
    expect(sharedLength("a\u{1f600}", "a\u{1f601}")).toBe(1);
    expect(sharedLength(`${"x".repeat(5000)}a`, `${"x".repeat(5000)}b`)).toBe(5000);
  });

  test("a byte offset counts UTF-8", () => {
    expect(byteLength("aü\u{1f600}")).toBe(7);
  });
});

test("a detached text is the same text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(detach(text)).toBe(text);
    }),
  );
});
