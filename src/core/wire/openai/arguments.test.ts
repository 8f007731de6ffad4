import * as fc from "fast-check";
import { expect, test } from "vitest";
import { toArguments, toInputJson } from "./arguments.ts";

test.each([
  ['{"2":1.0, "1":12345678901234567890}', '{"2":1.0, "1":12345678901234567890}'],
  ["", "{}"],
  [" \n", "{}"],
  ['{"path":"a', '{"invalid_arguments":"{\\"path\\":\\"a"}'],
  ["null", '{"invalid_arguments":"null"}'],
  ['"a"', '{"invalid_arguments":"\\"a\\""}'],
  ["[1]", '{"invalid_arguments":"[1]"}'],
])("arguments %j are the input %s", (argumentsText, inputJson) => {
  expect(toInputJson(argumentsText)).toBe(inputJson);
});

test("whatever a model wrote is one JSON object, and is written back as it was", () => {
  const texts = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.json(),
    fc.string().map((text) => JSON.stringify({ invalid_arguments: text })),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const input = toInputJson(text);
      const value: unknown = JSON.parse(input);
      expect(typeof value === "object" && value !== null && !Array.isArray(value)).toBe(true);
      expect(toArguments(input)).toBe(text.trim() === "" ? "{}" : text);
    }),
  );
});

test("the input of another provider's call is written as it is", () => {
  expect(toArguments('{ "a" : 1 }')).toBe('{ "a" : 1 }');
  expect(toArguments('{"invalid_arguments":1}')).toBe('{"invalid_arguments":1}');
});
