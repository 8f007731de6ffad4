import { describe, expect, test } from "vitest";
import { arrayItems, objectMembers, parseJsonText, rootSpan } from "./json-text.ts";
import { canonicalJsonOf, toCanonicalJson } from "./json-tree.ts";

describe("canonical JSON", () => {
  test("has one spelling for one schema, whatever the order and white space", () => {
    const expected = '{"10":1,"2":{"a":[],"b":"é"},"type":"object"}';
    expect(toCanonicalJson('{"type":"object", "2":{"b":"\\u00e9","a":[ ]},"10":1}')).toBe(expected);
    expect(canonicalJsonOf({ 10: 1, type: "object", 2: { a: [], b: "é" } })).toBe(expected);
  });

  test("keeps numbers as written, because JavaScript would change them", () => {
    const json = "[1.0,1e3,-0,12345678901234567890]";
    expect(toCanonicalJson(json)).toBe(json);
  });

  test("takes the last of duplicate keys and treats __proto__ as any other", () => {
    expect(toCanonicalJson('{"a":1,"__proto__":{"x":1},"a":2}')).toBe(
      '{"__proto__":{"x":1},"a":2}',
    );
  });

  test.each(["{", '{"a":1', "[", "[1", "abc", "{} {", '{"a":nope}', ""])(
    "refuses what is not JSON instead of going astray in it: %s",
    (text) => {
      expect(() => toCanonicalJson(text)).toThrow("the text is not JSON");
    },
  );

  test("refuses nesting it would have to walk too deep, with an error and not a crash", () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    expect(() => toCanonicalJson(deep)).toThrow("nested deeper than 500 levels");
  });
});

describe("spans", () => {
  test("find members in order, duplicates and escaped keys included", () => {
    const json = ' {"b" : "}]\\"" , "\\u0061":[1,{"c":2}],"b":null}';
    const members = objectMembers(json, rootSpan(json));
    expect(members.map(({ key, value }) => [key, json.slice(value.start, value.end)])).toEqual([
      ["b", '"}]\\""'],
      ["a", '[1,{"c":2}]'],
      ["b", "null"],
    ]);
  });

  test("find the items of an array", () => {
    const json = "[1.50, [2] ,{},\n-3]";
    const items = arrayItems(json, rootSpan(json));
    expect(items.map(({ start, end }) => json.slice(start, end))).toEqual([
      "1.50",
      "[2]",
      "{}",
      "-3",
    ]);
  });
});

describe("the door for JSON text", () => {
  test("names what is wrong with text that is not JSON", () => {
    expect(() => parseJsonText("{a:1}", "the schema")).toThrow(/^the schema is not JSON: /);
  });

  test("escapes a bare lone surrogate, which UTF-8 could not carry", () => {
    expect(parseJsonText('"\ud800😀"', "the text")).toBe('"\\ud800😀"');
  });
});
