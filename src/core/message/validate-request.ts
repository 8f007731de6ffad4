// Invariants of tools and of a whole request.
import type { CanonicalRequest } from "./canonical-request.ts";
import { checkShape } from "./check-shape.ts";
import { isObject } from "./fields.ts";
import { requestShape, toolShape } from "./message-shapes.ts";
import type { ToolDefinition } from "./tool-definition.ts";
import { validateConversation } from "./validate-conversation.ts";
import { isToolName } from "./validate-message.ts";
import { violation, type Violation } from "./violation.ts";

const basicTypes: readonly unknown[] = [
  "object",
  "array",
  "string",
  "number",
  "integer",
  "boolean",
  "null",
];

/** Keywords that at least one provider refuses in a tool schema. */
const forbiddenKeywords = [
  "$ref",
  "$dynamicRef",
  "oneOf",
  "anyOf",
  "allOf",
  "not",
  "if",
  "then",
  "else",
  "patternProperties",
  "dependentSchemas",
  "$defs",
  "definitions",
  "prefixItems",
  "contains",
  "propertyNames",
  "unevaluatedProperties",
  "unevaluatedItems",
] as const;

const depthMax = 64;

export function validateRequest(request: CanonicalRequest, path = "request"): Violation[] {
  const misshapen = checkShape(request, requestShape, path);
  if (misshapen.length > 0) return misshapen;
  const violations = [
    ...request.tools.flatMap((tool, index) => validateTool(tool, `${path}.tools.${index}`)),
    ...validateConversation(request.messages, `${path}.messages`),
  ];
  if (violations.some(({ rule }) => rule === "shape")) return violations;
  violations.push(...repeatedNames(request.tools, `${path}.tools`));
  const report = (field: string, message: string): void => {
    violations.push(violation(`${path}.${field}`, "request-invalid", message));
  };
  if (request.requestId === "") report("requestId", "give it an id, so that a cancel can name it");
  if (request.model.trim() === "") report("model", "name a model, as provider:name");
  if (request.messages.length === 0) report("messages", "send at least one message");
  // 0 warms the cache without generating.
  if (!Number.isSafeInteger(request.maxOutputTokens) || request.maxOutputTokens < 0) {
    report("maxOutputTokens", "give a whole number from 0");
  }
  if (request.temperature !== null && !(request.temperature >= 0 && request.temperature <= 2)) {
    report("temperature", "give a number from 0 to 2, or null");
  }
  if (request.stopSequences.includes("")) report("stopSequences", "drop the empty one");
  if (request.outputSchemaJson !== null && !isObject(parseOrUndefined(request.outputSchemaJson))) {
    report("outputSchemaJson", "must be one JSON object, or null");
  }
  return violations;
}

/** A tool that breaks one of these rules is refused at registration, before any provider sees it. */
export function validateTool(tool: ToolDefinition, path = "tool"): Violation[] {
  const violations = checkShape(tool, toolShape, path);
  if (violations.length > 0) return violations;
  if (!isToolName(tool.name)) {
    violations.push(
      violation(
        `${path}.name`,
        "tool-name",
        `"${tool.name}" is no tool name; use 1-128 letters, digits, _ and -`,
      ),
    );
  }
  const at = `${path}.inputSchemaJson`;
  const schema = parseOrUndefined(tool.inputSchemaJson);
  if (!isObject(schema) || schema["type"] !== "object") {
    return [...violations, violation(at, "schema-invalid", 'the schema must have "type":"object"')];
  }
  return [...violations, ...validateSchema(schema, at, 0)];
}

function validateSchema(schema: SchemaObject, path: string, depth: number): Violation[] {
  if (depth > depthMax) {
    return [violation(path, "schema-invalid", `nested deeper than ${depthMax} levels; flatten it`)];
  }
  const forbidden = forbiddenKeywords
    .filter((keyword) => Object.hasOwn(schema, keyword))
    .map((keyword) =>
      violation(
        `${path}.${keyword}`,
        "schema-forbidden",
        `not every provider takes ${keyword}; write the schema out without it`,
      ),
    );
  const { type, properties, items, required, additionalProperties } = schema;
  const violations = [...forbidden];
  const report = (keyword: string, message: string): void => {
    violations.push(violation(`${path}.${keyword}`, "schema-invalid", message));
  };
  const types = [type].flat();
  if (
    type !== undefined &&
    !(types.length > 0 && types.every((each) => basicTypes.includes(each)))
  ) {
    report("type", `use ${basicTypes.join(", ")}`);
  }
  if (
    schema["enum"] !== undefined &&
    !(Array.isArray(schema["enum"]) && schema["enum"].length > 0)
  ) {
    report("enum", "list at least one value");
  }
  if (required !== undefined && !isListOfNames(required)) report("required", "list property names");
  if (additionalProperties !== undefined && typeof additionalProperties !== "boolean") {
    violations.push(
      violation(
        `${path}.additionalProperties`,
        "schema-forbidden",
        "not every provider takes a schema here; use true or false",
      ),
    );
  }
  if (properties !== undefined && !isObject(properties)) report("properties", "must be an object");
  const children: [string, unknown][] = isObject(properties)
    ? Object.entries(properties).map(([key, child]) => [`properties.${key}`, child])
    : [];
  if (items !== undefined) children.push(["items", items]);
  for (const [name, child] of children) {
    if (isObject(child)) violations.push(...validateSchema(child, `${path}.${name}`, depth + 1));
    else report(name, "must be a schema");
  }
  return violations;
}

function repeatedNames(tools: readonly ToolDefinition[], path: string): Violation[] {
  const seen = new Set<string>();
  return tools.flatMap(({ name }, index) => {
    const isRepeated = seen.has(name);
    seen.add(name);
    return isRepeated
      ? [violation(`${path}.${index}`, "tool-repeated", `${name} is there already; keep one`)]
      : [];
  });
}

type SchemaObject = Readonly<Record<string, unknown>>;

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

function parseOrUndefined(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
