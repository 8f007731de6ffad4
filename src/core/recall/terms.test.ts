import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { termsOf, visitTerms } from "./terms.ts";

describe("terms", () => {
  test.for<[string, readonly string[]]>([
    ["", []],
    ["Two words", ["two", "words"]],
    ["fooBar", ["foobar", "foo", "bar"]],
    ["foo_bar", ["foo_bar", "foo", "bar"]],
    ["HTTPServer", ["httpserver", "http", "server"]],
    ["E1234", ["e1234", "1234"]],
    ["src/a-b.ts", ["src", "a", "b", "ts", "src/a-b.ts"]],
    ["(./src/x.ts)", ["src", "x", "ts", "src/x.ts"]],
    ["x.ts:12", ["x", "ts", "12", "x.ts:12", "x.ts"]],
    ["KEY=a/b", ["key", "a", "b", "key=a/b", "a/b"]],
    ["1.2.3", ["1", "2", "3", "1.2.3"]],
    ["--dry-run", ["dry", "run", "dry-run"]],
    ["全文検索", ["全", "文", "全文", "検", "文検", "索", "検索"]],
    ["API検索", ["api", "検", "索", "検索", "api検索"]],
    ["ﬁle ＡＢＣ", ["file", "abc"]],
    ["Ärger", ["ärger"]],
    ["end. next", ["end", "next"]],
    ["--- === ...", []],
    ["😀 \ud800", []],
  ])("of %j", ([text, terms]) => {
    expect([...termsOf(text)]).toEqual(terms);
  });

  test("a run that is longer than any name has only its words", () => {
    const path = Array.from({ length: 100 }, () => "part").join("/");
    expect([...termsOf(path)]).toEqual(["part"]);
  });

  test("of a word that is longer than any name, the beginning counts", () => {
    expect([...termsOf("a".repeat(1000))]).toEqual(["a".repeat(128)]);
  });

  test("places are where a term, or the name it is a part of, begins", () => {
    const places: [string, number][] = [];
    visitTerms("see aB/c", (term, at) => places.push([term, at]));
    expect(places).toEqual([
      ["see", 0],
      ["ab", 4],
      ["c", 7],
      ["ab/c", 4],
    ]);
  });

  test("any text has terms that are found in it again", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        const terms = termsOf(text);
        for (const term of termsOf(text)) expect(terms.has(term)).toBe(true);
        visitTerms(text, (_term, at) => expect(at).toBeLessThan(text.length));
        // Surrounding characters remove no words from a text.
        for (const term of terms) expect(termsOf(`( ${text} )`).has(term)).toBe(true);
      }),
    );
  });
});
