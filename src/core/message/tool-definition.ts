// Tools as models see them, and the part of JSON Schema that every provider understands.
import { StrataError } from "../strata-error.ts";
import { parseJsonText } from "./json-text.ts";
import { canonicalJsonOf, toCanonicalJson } from "./json-tree.ts";
import type { JsonText } from "./message.ts";

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** Canonical JSON. Key order has no meaning in a schema, and one spelling keeps the cached prefix. */
  readonly inputSchemaJson: JsonText;
}

/** Makes a tool from a schema, given as text or as a plain value. Both give the same bytes. */
export function toToolDefinition(tool: {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonText | Readonly<Record<string, unknown>>;
}): ToolDefinition {
  const { name, description, inputSchema } = tool;
  if (typeof inputSchema !== "string") {
    return { name, description, inputSchemaJson: canonicalJsonOf(inputSchema) };
  }
  const json = toCanonicalJson(parseJsonText(inputSchema, `the input schema of tool ${name}`));
  if (!json.startsWith("{")) {
    throw new StrataError(
      "input-invalid",
      `the input schema of tool ${name} is not an object`,
      'give a schema such as {"type":"object","properties":{}}',
    );
  }
  return { name, description, inputSchemaJson: json };
}

export function encodeToolDefinition(tool: ToolDefinition): JsonText {
  const name = JSON.stringify(tool.name);
  const description = JSON.stringify(tool.description);
  return `{"name":${name},"description":${description},"input_schema":${tool.inputSchemaJson}}`;
}
