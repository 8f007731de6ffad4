import { describe, expect, test } from "vitest";
import { readInputSchema } from "./input-schema.ts";

function problemsOf(schema: unknown): string[] {
  const { problems } = readInputSchema(JSON.stringify(schema));
  return problems.map(({ path, problem }) => `${path} ${problem}`);
}

function withProperty(schema: unknown): unknown {
  return { type: "object", properties: { a: schema } };
}

describe("the schema subset (D-05)", () => {
  test("basic types, enum, required, properties, items, description, format and bounds are taken", () => {
    const schema = {
      type: "object",
      description: "An input.",
      properties: {
        file: { type: "string", enum: ["MEMORY.md", "USER.md"], description: "Which." },
        entry: { type: "string", minLength: 1, maxLength: 10, format: "date-time" },
        limit: { type: "integer", minimum: 1, maximum: 50, default: 10 },
        list: { type: "array", items: { type: "number" }, minItems: 0, maxItems: 3 },
        more: { type: "object", properties: {}, additionalProperties: true, title: "More" },
        any: {},
        flag: { type: "boolean" },
        nothing: { type: "null" },
      },
      required: ["file", "entry"],
      additionalProperties: false,
    };
    expect(problemsOf(schema)).toEqual([]);
  });

  test.each([
    "$ref",
    "oneOf",
    "anyOf",
    "allOf",
    "not",
    "if",
    "patternProperties",
    "pattern",
    "const",
    "$defs",
  ])("%s is refused, with its place", (keyword) => {
    expect(problemsOf(withProperty({ [keyword]: {} }))[0]).toMatch(
      `/properties/a/${keyword} is not in the part of JSON Schema that every provider takes`,
    );
  });

  test("every problem is reported, not only the first", () => {
    const schema = {
      type: "object",
      properties: {
        "a/b": { type: ["string", "null"] },
        list: { type: "array", items: [{ type: "string" }] },
        size: { type: "integer", minLenght: 3, maxLength: -1 },
        one: { enum: [] },
        text: "string",
      },
      required: ["missing", 3],
      additionalProperties: { type: "string" },
    };
    expect(problemsOf(schema)).toEqual([
      "/additionalProperties must be true or false, not a schema",
      "/properties/a~1b/type must be one of object, array, string, number, integer, boolean, null",
      "/properties/list/items is not a schema: an object is needed",
      "/properties/size/minLenght is not in the part of JSON Schema that every provider takes; did you mean minLength?",
      "/properties/size/maxLength must be a number that something can be compared with",
      "/properties/one/enum must be a list of one or more plain values",
      "/properties/text is not a schema: an object is needed",
      '/required/0 there is no property "missing"',
      "/required/1 must be a name",
    ]);
  });

  test("the input of a tool is an object", () => {
    expect(problemsOf({ type: "string" })).toEqual([
      '/type must be "object": the input of a tool is an object',
    ]);
    expect(problemsOf({})).toHaveLength(1);
    expect(problemsOf([])).toEqual([" is not a schema: an object is needed"]);
    expect(readInputSchema("{").problems).toHaveLength(1);
  });

  test("a schema that goes on for ever is refused", () => {
    let schema: unknown = { type: "string" };
    for (let depth = 0; depth < 1000; depth += 1) schema = withProperty(schema);
    expect(problemsOf(schema)).toHaveLength(1);
    expect(problemsOf(schema)[0]).toContain("is more than 16 levels deep");
  });

  test("a property may be called as what every object has", () => {
    const json = '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{}}}';
    const { schema, problems } = readInputSchema(json);
    expect(problems).toEqual([]);
    expect([...schema.properties.keys()]).toEqual(["__proto__", "constructor"]);
  });
});
