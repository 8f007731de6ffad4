// The form of answers as JSON Schema. One value of it gives openapi.json, the document, the client's types and the tests' checks.

export interface Schema {
  readonly type?: JsonType | readonly JsonType[];
  readonly description?: string;
  readonly enum?: readonly (string | null)[];
  readonly format?: "date-time";
  readonly pattern?: string;
  readonly minimum?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
}

type JsonType = "string" | "number" | "integer" | "boolean" | "null" | "object" | "array";

export function text(description: string): Schema {
  return { type: "string", description };
}

export function oneOf(names: readonly string[], description: string): Schema {
  return { type: "string", enum: names, description };
}

export function count(description: string): Schema {
  return { type: "integer", minimum: 0, description };
}

export function number(description: string): Schema {
  return { type: "number", description };
}

export function flag(description: string): Schema {
  return { type: "boolean", description };
}

/** Dollars as decimal text with six digits: sums are exact, and no float rounds them. */
export function usd(description: string): Schema {
  return { type: "string", pattern: String.raw`^-?\d+\.\d{6}$`, description };
}

export function moment(description: string): Schema {
  return { type: "string", format: "date-time", description };
}

export function list(items: Schema, description: string): Schema {
  return { type: "array", items, description };
}

/** Members with any names. */
export function named(values: Schema, description: string): Schema {
  return { type: "object", additionalProperties: values, description };
}

/** Every member is there, and no other. */
export function object(properties: Readonly<Record<string, Schema>>, description = ""): Schema {
  return {
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
    ...(description === "" ? {} : { description }),
  };
}

export function orNull(schema: Schema): Schema {
  const { type = [], enum: names } = schema;
  const types = typeof type === "string" ? [type] : type;
  return {
    ...schema,
    type: [...types, "null"],
    ...(names === undefined ? {} : { enum: [...names, null] }),
  };
}
