// Reads the part of JSON Schema that every provider understands, once per tool definition.
import { isObject } from "../message/fields.ts";
import type { JsonText } from "../message/message.ts";
import { nearestNames } from "../nearest-names.ts";

export const schemaTypes = [
  "object",
  "array",
  "string",
  "number",
  "integer",
  "boolean",
  "null",
] as const;

export type SchemaType = (typeof schemaTypes)[number];

/** Inputs are checked against this. Without a type, any value is valid. */
export interface InputSchema {
  readonly type?: SchemaType;
  readonly enum?: readonly unknown[];
  readonly properties: ReadonlyMap<string, InputSchema>;
  readonly required: readonly string[];
  /** Whether an object may have other properties. */
  readonly takesMore: boolean;
  readonly items?: InputSchema;
  readonly bounds: SchemaBounds;
}

/** Bounds of characters, of a number, of items. */
export type SchemaBounds = { readonly [Name in BoundName]?: number };

const boundNames = [
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
] as const;

type BoundName = (typeof boundNames)[number];

export interface SchemaProblem {
  /** A JSON pointer. Empty for the schema itself. */
  readonly path: string;
  readonly problem: string;
}

/** Lists every problem, not only the first. A schema with problems cannot be used. */
export interface SchemaReading {
  readonly schema: InputSchema;
  readonly problems: readonly SchemaProblem[];
}

export function readInputSchema(json: JsonText): SchemaReading {
  const problems: SchemaProblem[] = [];
  const report: Report = (path, problem) => void problems.push({ path, problem });
  const value = parse(json);
  const schema = readSchema(value, "", 0, report);
  if (isObject(value) && value["type"] !== "object") {
    report("/type", 'must be "object": the input of a tool is an object');
  }
  return { schema, problems };
}

/** Appends a name to a JSON pointer. */
export function pointerTo(path: string, name: string | number): string {
  return `${path}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

type Report = (path: string, problem: string) => void;

const depthMax = 16;

const anything: InputSchema = {
  properties: new Map(),
  required: [],
  takesMore: true,
  bounds: {},
};

function parse(json: JsonText): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function readSchema(value: unknown, path: string, depth: number, report: Report): InputSchema {
  if (!isObject(value)) {
    report(path, "is not a schema: an object is needed");
    return anything;
  }
  if (depth > depthMax) {
    report(path, `is more than ${depthMax} levels deep`);
    return anything;
  }
  reportKeywords(value, path, report);
  const type = readType(value, path, report);
  const properties = readProperties(value, path, depth, report);
  const items =
    value["items"] === undefined
      ? undefined
      : readSchema(value["items"], pointerTo(path, "items"), depth + 1, report);
  const values = readEnum(value, path, report);
  return {
    ...(type === undefined ? {} : { type }),
    ...(values === undefined ? {} : { enum: values }),
    ...(items === undefined ? {} : { items }),
    properties,
    required: readRequired(value, path, properties, report),
    takesMore: value["additionalProperties"] !== false,
    bounds: readBounds(value, path, report),
  };
}

const annotations = ["description", "title", "format"] as const;

const keywords: readonly string[] = [
  "type",
  "enum",
  "properties",
  "required",
  "items",
  "additionalProperties",
  "default",
  ...annotations,
  ...boundNames,
];

function reportKeywords(
  value: Readonly<Record<string, unknown>>,
  path: string,
  report: Report,
): void {
  for (const name of Object.keys(value)) {
    if (keywords.includes(name)) continue;
    const [near] = nearestNames(name.slice(0, 64), keywords, 1);
    const hint = near === undefined ? "" : `; did you mean ${near}?`;
    report(
      pointerTo(path, name),
      `is not in the part of JSON Schema that every provider takes${hint}`,
    );
  }
  for (const name of annotations) {
    const text = value[name];
    if (text !== undefined && typeof text !== "string") {
      report(pointerTo(path, name), "must be text");
    }
  }
  const more = value["additionalProperties"];
  if (more !== undefined && typeof more !== "boolean") {
    report(pointerTo(path, "additionalProperties"), "must be true or false, not a schema");
  }
}

function readType(
  { type }: Readonly<Record<string, unknown>>,
  path: string,
  report: Report,
): SchemaType | undefined {
  if (type === undefined) return undefined;
  const known = schemaTypes.find((each) => each === type);
  if (known === undefined) {
    report(pointerTo(path, "type"), `must be one of ${schemaTypes.join(", ")}`);
  }
  return known;
}

function readProperties(
  { properties }: Readonly<Record<string, unknown>>,
  path: string,
  depth: number,
  report: Report,
): ReadonlyMap<string, InputSchema> {
  const here = pointerTo(path, "properties");
  if (properties === undefined) return new Map();
  if (!isObject(properties)) {
    report(here, "must be an object of schemas");
    return new Map();
  }
  return new Map(
    Object.entries(properties).map(([name, schema]) => [
      name,
      readSchema(schema, pointerTo(here, name), depth + 1, report),
    ]),
  );
}

function readRequired(
  { required }: Readonly<Record<string, unknown>>,
  path: string,
  properties: ReadonlyMap<string, InputSchema>,
  report: Report,
): readonly string[] {
  const here = pointerTo(path, "required");
  if (required === undefined) return [];
  if (!Array.isArray(required)) {
    report(here, "must be a list of names");
    return [];
  }
  const names: string[] = [];
  for (const [index, name] of required.entries()) {
    if (typeof name !== "string") report(pointerTo(here, index), "must be a name");
    else if (!properties.has(name))
      report(pointerTo(here, index), `there is no property "${name}"`);
    else names.push(name);
  }
  return names;
}

function readEnum(
  value: Readonly<Record<string, unknown>>,
  path: string,
  report: Report,
): readonly unknown[] | undefined {
  const values: unknown = value["enum"];
  if (values === undefined) return undefined;
  const isList = Array.isArray(values) && values.length > 0;
  if (isList && values.every((each) => typeof each !== "object" || each === null)) return values;
  report(pointerTo(path, "enum"), "must be a list of one or more plain values");
  return undefined;
}

function readBounds(
  value: Readonly<Record<string, unknown>>,
  path: string,
  report: Report,
): SchemaBounds {
  const bounds: { [Name in BoundName]?: number } = {};
  for (const name of boundNames) {
    const bound = value[name];
    if (bound === undefined) continue;
    if (typeof bound === "number" && isBound(name, bound)) bounds[name] = bound;
    else report(pointerTo(path, name), "must be a number that something can be compared with");
  }
  return bounds;
}

function isBound(name: BoundName, bound: number): boolean {
  const isCount = name !== "minimum" && name !== "maximum";
  return isCount ? Number.isSafeInteger(bound) && bound >= 0 : Number.isFinite(bound);
}
