import { expect, test } from "vitest";
import { readInputSchema } from "../../src/core/tools/input-schema.ts";
import { lowerSchema } from "../../src/edge/tools/mcp/lower-schema.ts";
import { toToolName } from "../../src/edge/tools/mcp/remote-tool.ts";

test("a schema that every provider takes stays as it is", () => {
  const schema = {
    type: "object",
    properties: {
      path: { type: "string", description: "where", minLength: 1 },
      kinds: { type: "array", items: { type: "string", enum: ["a", "b"] }, maxItems: 3 },
    },
    required: ["path"],
    additionalProperties: false,
  };
  expect(lowerSchema(schema)).toEqual({ schema, left: [] });
});

test("references and forms with null are followed; what is beyond is left out and named", () => {
  const { schema, left } = lowerSchema({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Search",
    $defs: { Query: { type: "string", pattern: "^[a-z]+$", description: "words" } },
    properties: {
      query: { $ref: "#/$defs/Query" },
      limit: { anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }], default: null },
      since: { type: ["string", "null"], format: "date" },
      kind: { const: "web" },
      either: { oneOf: [{ type: "string" }, { type: "number" }], description: "text or number" },
      self: { $ref: "#/properties/self" },
      far: { $ref: "https://elsewhere.example/schema" },
    },
    required: ["query", "gone"],
  });
  expect(schema).toEqual({
    type: "object",
    properties: {
      query: { type: "string", description: "words" },
      limit: { type: "integer", minimum: 1, default: null },
      since: { type: "string", format: "date" },
      kind: { enum: ["web"] },
      either: { description: "text or number" },
      self: {},
      far: {},
    },
    required: ["query"],
  });
  expect(left).toEqual(["$ref", "its depth", "oneOf", "pattern"]);
  expect(readInputSchema(JSON.stringify(schema)).problems).toEqual([]);
});

test("whatever a server gives for a schema becomes one that can be used", () => {
  const deep = JSON.parse(`${'{"properties":{"a":'.repeat(500)}{}${"}}".repeat(500)}`);
  const wide = {
    properties: Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`p${at}`, {}])),
  };
  for (const given of [
    null,
    5,
    [],
    "x",
    { type: "string" },
    { properties: [] },
    { required: "a" },
    deep,
    wide,
  ]) {
    const { schema } = lowerSchema(given);
    expect(schema["type"]).toBe("object");
    expect(readInputSchema(JSON.stringify(schema)).problems).toEqual([]);
  }
  expect(lowerSchema(wide).left).toEqual(["its size"]);
});

test("names are those that every provider takes, and differ where theirs do", () => {
  expect(toToolName("files", "read_file")).toBe("mcp__files__read_file");
  const [one, two] = [toToolName("files", "read file"), toToolName("files", "read.file")];
  expect([one, two]).toEqual([
    expect.stringMatching(/^mcp__files__read_file_[0-9a-f]{8}$/),
    expect.stringMatching(/^mcp__files__read_file_[0-9a-f]{8}$/),
  ]);
  expect(one).not.toBe(two);
  expect(toToolName("s".repeat(50), "t".repeat(50))).toHaveLength(64);
});
