import * as fc from "fast-check";
import { expect, test } from "vitest";
import { StrataError } from "../strata-error.ts";
import { isObject } from "./fields.ts";
import { compactJson, parseJsonTree, toJsonTree } from "./json-tree.ts";

test("white space and escapes are one spelling; order and numbers stay as written", () => {
  const text = ' {"b" : [1.0, 1e3,\n"\\u00e9\\/"], "2":null, "a":{"":true}} ';
  expect(compactJson(parseJsonTree(text, "the text"))).toBe(
    '{"b":[1.0,1e3,"é/"],"2":null,"a":{"":true}}',
  );
});

test("an object that was parsed before gives the tree of its text", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (member) => {
      const value: unknown = JSON.parse(JSON.stringify({ member, "2": 1 }));
      if (!isObject(value)) throw new Error("no object");
      expect(toJsonTree(value)).toEqual(parseJsonTree(JSON.stringify(value), "the text"));
    }),
  );
  expect(toJsonTree({ a: undefined })).toEqual(parseJsonTree("{}", "the text"));
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
