import * as fc from "fast-check";
import { expect, test } from "vitest";
import { toPlain, toPlainLine } from "./plain-text.ts";

test("colours, titles and other sequences are removed, the words stay", () => {
  expect(toPlain("\u001b[31mred\u001b[0m and \u001b[1;4mbold\u001b[m")).toBe("red and bold");
  expect(toPlain("a\u001b]0;title\u0007b\u001b]8;;http://x\u001b\\c")).toBe("abc");
  expect(toPlain("a\u009b31mb\u0090q\u009cc")).toBe("abc");
  expect(toPlain("a\u001b(Bb\u001bcc")).toBe("abc");
});

test("an unfinished title sequence removes only its own line", () => {
  expect(toPlain("a\u001b]0;never ends\nnext")).toBe("a\nnext");
});

test("every kind of line end stays a line break; tabs stay", () => {
  expect(toPlain("a\r\nb\rc\u2028d\te")).toBe("a\nb\nc\nd\te");
});

test("marks that change the direction of text are removed, emoji joiners stay", () => {
  expect(toPlain("a\u202eb\u2066c\u2069")).toBe("abc");
  expect(toPlain("👩\u200d👧")).toBe("👩\u200d👧");
});

test("no terminal control sequence survives in any text", () => {
  const piece = fc.oneof(
    fc.constantFrom("\u001b", "[", "]", "31m", "\u009b", "\u0007", "\r", "\b", "\u202e", ";"),
    fc.string({ unit: "binary" }),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      expect(toPlain(pieces.join(""))).not.toMatch(
        /(?![\n\t])[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u,
      );
    }),
  );
});

test("text for one line has no line break", () => {
  expect(toPlainLine("  a\n\tb \u001b[2Jc ")).toBe("a b c");
});
