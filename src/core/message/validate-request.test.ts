import { describe, expect, test } from "vitest";
import { createRequest, systemSegments } from "./canonical-request.ts";
import { encodeToolDefinition, toToolDefinition } from "./tool-definition.ts";
import { validateRequest, validateTool } from "./validate-request.ts";

const tool = (inputSchema: string) =>
  toToolDefinition({ name: "search", description: "Finds text.", inputSchema });

const base = createRequest({
  requestId: "01JAZ3NDEKTSV4RRFFQ69G5FAV",
  model: "anthropic:claude-sonnet-5-5",
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  maxOutputTokens: 1000,
});

describe("a tool schema (D-05)", () => {
  test("may use types, enum, required, properties, items, description, format and lengths", () => {
    const schema =
      '{"type":"object","additionalProperties":false,"required":["q"],"properties":{"q":{"type":"string","minLength":1,"format":"uri","description":"what"},"kinds":{"type":"array","items":{"type":"string","enum":["a"]}}}}';
    expect(validateTool(tool(schema))).toEqual([]);
  });

  test.each([
    [
      "$ref",
      '{"type":"object","properties":{"a":{"$ref":"#/x"}}}',
      "properties.a.$ref schema-forbidden",
    ],
    ["anyOf", '{"type":"object","anyOf":[]}', "anyOf schema-forbidden"],
    [
      "not, inside a list",
      '{"type":"object","properties":{"a":{"type":"array","items":{"not":{}}}}}',
      "properties.a.items.not schema-forbidden",
    ],
    [
      "a schema for other properties",
      '{"type":"object","additionalProperties":{"type":"string"}}',
      "additionalProperties schema-forbidden",
    ],
    [
      "an unknown type",
      '{"type":"object","properties":{"a":{"type":"date"}}}',
      "properties.a.type schema-invalid",
    ],
    [
      "an empty enum",
      '{"type":"object","properties":{"a":{"enum":[]}}}',
      "properties.a.enum schema-invalid",
    ],
    ["required that is no list", '{"type":"object","required":"a"}', "required schema-invalid"],
    [
      "a property that is no schema",
      '{"type":"object","properties":{"a":true}}',
      "properties.a schema-invalid",
    ],
  ])("may not use %s", (_name, schema, expected) => {
    const violations = validateTool(tool(schema));
    expect(violations.map(({ path, rule }) => `${path} ${rule}`)).toEqual([
      `tool.inputSchemaJson.${expected}`,
    ]);
  });

  test("describes an object", () => {
    expect(validateTool(tool('{"type":"string"}'))[0]?.rule).toBe("schema-invalid");
    expect(() => tool("[]")).toThrow("the input schema of tool search is not an object");
  });

  test("gives the same bytes from text and from a value (C-13)", () => {
    const fromText = tool('{"type":"object","properties":{"b":{},"a":{}}}');
    const fromValue = toToolDefinition({
      name: "search",
      description: "Finds text.",
      inputSchema: { properties: { a: {}, b: {} }, type: "object" },
    });
    expect(encodeToolDefinition(fromText)).toBe(
      '{"name":"search","description":"Finds text.","input_schema":{"properties":{"a":{},"b":{}},"type":"object"}}',
    );
    expect(fromValue).toEqual(fromText);
  });
});

describe("a request (M-01, M-02)", () => {
  test("has the documented defaults and no violations", () => {
    expect(base).toMatchObject({
      tools: [],
      systemPrompt: null,
      systemPromptVolatile: null,
      stopSequences: [],
      temperature: null,
      outputSchemaJson: null,
      stream: false,
      toolIdMap: null,
      workspacePath: null,
    });
    expect(validateRequest(base)).toEqual([]);
  });

  test("sends the stable segment first and leaves out segments of white space", () => {
    const both = { ...base, systemPrompt: "rules", systemPromptVolatile: "10:42" };
    expect(systemSegments(both)).toEqual([
      { name: "stable", text: "rules" },
      { name: "volatile", text: "10:42" },
    ]);
    expect(systemSegments({ ...both, systemPrompt: " \n" })).toEqual([
      { name: "volatile", text: "10:42" },
    ]);
  });

  test("names everything that is wrong at once", () => {
    const search = tool('{"type":"object"}');
    const violations = validateRequest({
      ...base,
      model: " ",
      messages: [],
      tools: [search, search],
      maxOutputTokens: -1,
      temperature: 3,
      requestId: "",
      stopSequences: [""],
      outputSchemaJson: "{{",
    });
    expect(violations.map(({ path, rule }) => `${path} ${rule}`)).toEqual([
      "request.tools.1 tool-repeated",
      "request.requestId request-invalid",
      "request.model request-invalid",
      "request.messages request-invalid",
      "request.maxOutputTokens request-invalid",
      "request.temperature request-invalid",
      "request.stopSequences request-invalid",
      "request.outputSchemaJson request-invalid",
    ]);
  });
});
