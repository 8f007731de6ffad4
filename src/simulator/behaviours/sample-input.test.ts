import { expect, test } from "vitest";
import { canFill, sampleInput } from "./sample-input.ts";

test.each<[string, unknown, unknown]>([
  ["no schema", undefined, {}],
  ["an empty schema", {}, {}],
  ["true", true, {}],
  ["no properties", { type: "object" }, {}],
  [
    "required properties only",
    object({ a: { type: "string" }, b: { type: "integer" } }, ["b"]),
    { b: 1 },
  ],
  [
    "every simple type",
    object({
      text: { type: "string" },
      whole: { type: "integer", minimum: 10 },
      part: { type: "number", maximum: 0.5 },
      flag: { type: "boolean" },
      list: { type: "array", items: { type: "string" } },
      none: { type: "null" },
    }),
    { text: "sample text", whole: 10, part: 0.5, flag: false, list: [], none: null },
  ],
  [
    "bounds",
    object({
      list: { type: "array", minItems: 2, items: { type: "integer", exclusiveMinimum: 3 } },
      long: { type: "string", minLength: 20 },
      short: { type: "string", maxLength: 3 },
      fives: { type: "integer", multipleOf: 5, minimum: 11 },
    }),
    { list: [4, 4], long: "sample longxxxxxxxxx", short: "sam", fives: 15 },
  ],
  [
    "fixed values",
    object({
      one: { const: 7 },
      some: { enum: ["x", "y"] },
      usual: { type: "string", default: "d" },
      day: { type: "string", format: "date" },
    }),
    { one: 7, some: "x", usual: "d", day: "2026-11-15" },
  ],
  [
    "alternatives",
    object({
      maybe: { anyOf: [{ type: "null" }, { type: "integer" }] },
      either: { oneOf: [{ type: "string" }, { type: "integer" }] },
      types: { type: ["null", "boolean"] },
      both: { allOf: [object({ a: { type: "string" } }), object({ b: { type: "boolean" } })] },
    }),
    { maybe: 1, either: "sample either", types: false, both: { a: "sample a", b: false } },
  ],
  [
    "references",
    {
      ...object({ place: { $ref: "#/$defs/place" } }),
      $defs: { place: object({ city: { type: "string" } }) },
    },
    { place: { city: "sample city" } },
  ],
])("a value the schema accepts is made: %s", (_name, schema, expected) => {
  expect(sampleInput(schema)).toEqual(expected);
});

test("a schema that contains itself comes to an end", () => {
  const schema = { ...object({ child: { $ref: "#" } }), $defs: {} };
  expect(JSON.stringify(sampleInput(schema)).length).toBeLessThan(200);
});

test("what is wished for is used where the schema takes it, required or not", () => {
  const schema = object(
    {
      path: { type: "string" },
      depth: { type: "integer" },
      command: { type: "array", items: { type: "string" } },
      mode: { type: "string", enum: ["fast"] },
      limit: { anyOf: [{ type: "number" }, { type: "null" }] },
      other: { type: "string" },
    },
    ["command", "mode"],
  );
  const wishes = { path: "/a", depth: "deep", command: ["ls"], mode: "slow", limit: 3, absent: 1 };
  expect(sampleInput(schema, wishes)).toEqual({
    path: "/a",
    command: ["ls"],
    mode: "fast",
    limit: 3,
  });
});

test("names of an object's own methods are no wishes", () => {
  expect(sampleInput(object({ toString: { type: "string" } }))).toEqual({
    toString: "sample toString",
  });
});

function object(
  properties: Readonly<Record<string, unknown>>,
  required: readonly string[] = Object.keys(properties),
): Readonly<Record<string, unknown>> {
  return { type: "object", properties, required, additionalProperties: false };
}

test("a schema cannot ask for more than a sample needs", () => {
  const schema = object({
    list: { type: "array", minItems: 1e9, items: { type: "integer" } },
    text: { type: "string", minLength: 1e9 },
  });
  const input = sampleInput(schema) as { list: unknown[]; text: string };
  expect(input.list).toHaveLength(100);
  expect(input.text).toHaveLength(10_000);
});

test.each<[string, unknown, boolean]>([
  ["any text", { type: "string" }, true],
  ["text of a form that the sample has", { type: "string", pattern: "^sample" }, true],
  ["text of another form", { type: "string", pattern: "^ORD-[0-9]+$" }, false],
  ["text of a form that is no expression", { type: "string", pattern: "(" }, false],
])("whether a schema can be filled is known: %s", (_name, id, expected) => {
  expect(canFill({ name: "find", description: "", inputSchema: object({ id }) })).toBe(expected);
  const optional = { name: "find", description: "", inputSchema: object({ id }, []) };
  expect(canFill(optional)).toBe(true);
});
