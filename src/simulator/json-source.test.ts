// Goal: JSON keeps its order and spelling. Method: examples, and agreement with JSON.parse on random values.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { compactJson, JsonFault, readJson, toPlainValue } from "./json-source.ts";

test("keys keep their order and numbers their spelling", () => {
  const source = '{ "b": 1.0, "10": [1e3, -0, true], "2": {"x": null}, "t": "a\\u00e9\\n" }';
  expect(compactJson(readJson(source))).toBe(
    '{"b":1.0,"10":[1e3,-0,true],"2":{"x":null},"t":"aé\\n"}',
  );
});

test("of two equal keys the last value stands at the first place", () => {
  expect(compactJson(readJson('{"a":1,"b":2,"a":3}'))).toBe('{"a":3,"b":2}');
});

test("every JSON value is read as JSON.parse reads it", () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: "grapheme" }), (source) => {
      expect(toPlainValue(readJson(source))).toEqual(JSON.parse(source));
    }),
  );
});

test("what JSON.parse refuses is refused", () => {
  const broken = [
    "",
    "{",
    "[1,]",
    '{"a"}',
    "01",
    "tru",
    '"a',
    '"\\x"',
    '"\n"',
    "1 2",
    "'a'",
    "{a:1}",
    "nul",
  ];
  for (const source of broken) {
    expect(() => JSON.parse(source)).toThrow(SyntaxError);
    expect(() => readJson(source)).toThrow(JsonFault);
  }
});
