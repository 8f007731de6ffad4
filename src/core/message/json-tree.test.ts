import * as fc from "fast-check";
import { expect, test } from "vitest";
import { StrataError } from "../strata-error.ts";
import { compactJson, parseJsonTree } from "./json-tree.ts";

test("white space and escapes are one spelling; order and numbers stay as written", () => {
  const text = ' {"b" : [1.0, 1e3,\n"\\u00e9\\/"], "2":null, "a":{"":true}} ';
  expect(compactJson(parseJsonTree(text, "the text"))).toBe(
    '{"b":[1.0,1e3,"é/"],"2":null,"a":{"":true}}',
  );
});

test("any JSON value comes out as it went in", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value, undefined, 2);
      expect(compactJson(parseJsonTree(text, "the text"))).toBe(JSON.stringify(value));
    }),
  );
});

test("a string ends at the first quote that is not escaped", () => {
  const texts = ["\\", '\\"', '"', "\\\\", 'a\\\\"b', ""];
  const text = JSON.stringify(texts);
  expect(parseJsonTree(text, "the text")).toEqual({
    kind: "list",
    items: texts.map((each) => ({ kind: "string", text: each })),
  });
});

test("what is not JSON is refused by name", () => {
  expect(() => parseJsonTree("{", "the body")).toThrow(StrataError);
  expect(() => parseJsonTree('{"a":1} x', "the body")).toThrow("the body is not JSON");
});
