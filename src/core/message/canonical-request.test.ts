import { describe, expect, test } from "vitest";
import { createRequest, systemSegments } from "./canonical-request.ts";
import { encodeToolDefinition, toToolDefinition } from "./tool-definition.ts";

const tool = (inputSchema: string) =>
  toToolDefinition({ name: "search", description: "Finds text.", inputSchema });

const base = createRequest({
  requestId: "01JAZ3NDEKTSV4RRFFQ69G5FAV",
  model: "anthropic:claude-sonnet-5-5",
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
  maxOutputTokens: 1000,
});

describe("a tool", () => {
  test("has a schema that describes an object", () => {
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
  test("has the documented defaults", () => {
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
});
