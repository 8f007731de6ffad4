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
  const here = placeAt("", (problem) => void problems.push(problem));
  const value = parse(json);
  const schema = readSchema(value, here, 0);
  if (isObject(value) && value["type"] !== "object") {
    here.at("type").report('must be "object": the input of a tool is an object');
  }
  return { schema, problems };
}

/** Appends a name to a JSON pointer. */
export function pointerTo(path: string, name: string | number): string {
  return `${path}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** A place in the schema, where problems are reported. */
interface Place {
  at(name: string | number): Place;
  report(problem: string): void;
}

function placeAt(path: string, add: (problem: SchemaProblem) => void): Place {
  return {
    at: (name) => placeAt(pointerTo(path, name), add),
    report: (problem) => add({ path, problem }),
  };
}

const depthMax = 16;

const anything: InputSchema = { properties: new Map(), required: [], takesMore: true, bounds: {} };

function parse(json: JsonText): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function readSchema(value: unknown, here: Place, depth: number): InputSchema {
  if (!isObject(value)) {
    here.report("is not a schema: an object is needed");
    return anything;
  }
  if (depth > depthMax) {
    here.report(`is more than ${depthMax} levels deep`);
    return anything;
  }
  reportKeywords(value, here);
  const type = readType(value["type"], here.at("type"));
  const properties = readProperties(value["properties"], here.at("properties"), depth);
  const items =
    value["items"] === undefined
      ? undefined
      : readSchema(value["items"], here.at("items"), depth + 1);
  const values = readEnum(value["enum"], here.at("enum"));
  return {
    ...(type === undefined ? {} : { type }),
    ...(values === undefined ? {} : { enum: values }),
    ...(items === undefined ? {} : { items }),
    properties,
    required: readRequired(value["required"], here.at("required"), properties),
    takesMore: value["additionalProperties"] !== false,
    bounds: readBounds(value, here),
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

type Fields = Readonly<Record<string, unknown>>;

function reportKeywords(value: Fields, here: Place): void {
  for (const name of Object.keys(value)) {
    if (keywords.includes(name)) continue;
    const [near] = nearestNames(name.slice(0, 64), keywords, 1);
    const hint = near === undefined ? "" : `; did you mean ${near}?`;
    here.at(name).report(`is not in the part of JSON Schema that every provider takes${hint}`);
  }
  for (const name of annotations) {
    const text = value[name];
    if (text !== undefined && typeof text !== "string") here.at(name).report("must be text");
  }
  const more = value["additionalProperties"];
  if (more !== undefined && typeof more !== "boolean") {
    here.at("additionalProperties").report("must be true or false, not a schema");
  }
}

function readType(type: unknown, here: Place): SchemaType | undefined {
  const known = schemaTypes.find((each) => each === type);
  if (type !== undefined && known === undefined) {
    here.report(`must be one of ${schemaTypes.join(", ")}`);
  }
  return known;
}

function readProperties(
  properties: unknown,
  here: Place,
  depth: number,
): ReadonlyMap<string, InputSchema> {
  if (!isObject(properties)) {
    if (properties !== undefined) here.report("must be an object of schemas");
    return new Map();
  }
  return new Map(
    Object.entries(properties).map(([name, schema]) => [
      name,
      readSchema(schema, here.at(name), depth + 1),
    ]),
  );
}

function readRequired(
  required: unknown,
  here: Place,
  properties: ReadonlyMap<string, InputSchema>,
): readonly string[] {
  if (!Array.isArray(required)) {
    if (required !== undefined) here.report("must be a list of names");
    return [];
  }
  const names: string[] = [];
  for (const [index, name] of required.entries()) {
    if (typeof name !== "string") here.at(index).report("must be a name");
    else if (!properties.has(name)) here.at(index).report(`there is no property "${name}"`);
    else names.push(name);
  }
  return names;
}

function readEnum(values: unknown, here: Place): readonly unknown[] | undefined {
  if (values === undefined) return undefined;
  const isList = Array.isArray(values) && values.length > 0;
  if (isList && values.every((each) => typeof each !== "object" || each === null)) return values;
  here.report("must be a list of one or more plain values");
  return undefined;
}

function readBounds(value: Fields, here: Place): SchemaBounds {
  const bounds: { [Name in BoundName]?: number } = {};
  for (const name of boundNames) {
    const bound = value[name];
    if (bound === undefined) continue;
    if (typeof bound === "number" && isBound(name, bound)) bounds[name] = bound;
    else here.at(name).report("must be a number that something can be compared with");
  }
  return bounds;
}

function isBound(name: BoundName, bound: number): boolean {
  const isCount = name !== "minimum" && name !== "maximum";
  return isCount ? Number.isSafeInteger(bound) && bound >= 0 : Number.isFinite(bound);
}
