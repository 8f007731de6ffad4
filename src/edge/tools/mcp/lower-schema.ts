// A remote tool's JSON Schema as every provider takes it. What it says beyond that is left out, and named: the server checks it.
import { isObject, listOf, type Fields } from "../../../core/message/fields.ts";

export interface LoweredSchema {
  readonly schema: Fields;
  /** Keywords that were left out, sorted. */
  readonly left: readonly string[];
}

const depthMax = 12;
/** A schema is part of every prompt. */
export const schemaBytesMax = 24_000;

export function lowerSchema(given: unknown): LoweredSchema {
  const left = new Set<string>();
  const root = isObject(given) ? given : {};
  const lowered = { ...lower(root, { root, left, depth: 0 }), type: "object" };
  const isHuge = JSON.stringify(lowered).length > schemaBytesMax;
  if (isHuge) left.add("its size");
  return { schema: isHuge ? { type: "object" } : lowered, left: [...left].toSorted() };
}

interface Place {
  readonly root: Fields;
  readonly left: Set<string>;
  readonly depth: number;
}

const bounds = ["minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems"] as const;
const types = ["object", "array", "string", "number", "integer", "boolean", "null"];
/** They say nothing of values, or are read below. */
const silent = new Set(["$schema", "$id", "$defs", "definitions", "$comment", "examples", "title"]);

function lower(given: Fields, place: Place): Fields {
  const { left, depth } = place;
  if (depth > depthMax) {
    left.add("its depth");
    return {};
  }
  const schema = throughOthers(given, place);
  const below = { ...place, depth: depth + 1 };
  const made: [string, unknown][] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    const kept = lowerKeyword(keyword, value, below);
    if (kept !== undefined) made.push([keyword === "const" ? "enum" : keyword, kept]);
    else if (!silent.has(keyword)) left.add(keyword);
  }
  const lowered: Fields = Object.fromEntries(made);
  const names = isObject(lowered["properties"]) ? Object.keys(lowered["properties"]) : [];
  const required = listOf(lowered["required"]).filter((each) => names.includes(String(each)));
  const { required: _all, ...rest } = lowered;
  return required.length === 0 ? rest : { ...rest, required };
}

/** Undefined for what is left out. */
function lowerKeyword(keyword: string, value: unknown, place: Place): unknown {
  switch (keyword) {
    case "type":
      return types.find((each) => each === value);
    case "properties":
      return isObject(value)
        ? Object.fromEntries(
            Object.entries(value).map(([name, each]) => [name, lowerAny(each, place)]),
          )
        : undefined;
    case "items":
      return isObject(value) ? lower(value, place) : undefined;
    case "required":
      return Array.isArray(value) ? [...new Set(value.filter(isText))] : undefined;
    case "enum":
      return Array.isArray(value) && value.length > 0 && value.every(isPlain)
        ? [...new Set(value)]
        : undefined;
    case "const":
      return isPlain(value) ? [value] : undefined;
    case "additionalProperties":
      return typeof value === "boolean" ? value : undefined;
    case "description":
    case "format":
      return isText(value) ? value : undefined;
    case "default":
      return isPlain(value) ? value : undefined;
    default:
      return isBound(keyword) && isLimit(keyword, value) ? value : undefined;
  }
}

function lowerAny(value: unknown, place: Place): Fields {
  return isObject(value) ? lower(value, place) : {};
}

/** Follows a reference within the schema, and takes the one form that is no null. */
function throughOthers(given: Fields, { root, left }: Place): Fields {
  let schema = given;
  for (let step = 0; step <= depthMax; step += 1) {
    const { $ref: ref, anyOf, oneOf, allOf, type, ...rest } = schema;
    const forms = [anyOf, oneOf, allOf].find(Array.isArray);
    const real = listOf(forms)
      .filter(isObject)
      .filter((each) => each["type"] !== "null");
    const kinds = Array.isArray(type) ? type.filter((each) => each !== "null") : [];
    if (isText(ref)) {
      schema = { ...find(root, ref, left), ...rest };
    } else if (forms !== undefined && real.length === 1) {
      schema = { ...real[0], ...rest, ...(type === undefined ? {} : { type }) };
    } else if (kinds.length === 1) {
      schema = { ...schema, type: kinds[0] };
    } else {
      return schema;
    }
  }
  left.add("its depth");
  return {};
}

/** `#/$defs/Name`, with the escapes of JSON pointers. */
function find(root: Fields, ref: string, left: Set<string>): Fields {
  const path = ref.startsWith("#/") ? ref.slice(2).split("/") : null;
  let found: unknown = path === null ? undefined : root;
  for (const part of path ?? []) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  if (isObject(found)) return found;
  left.add("$ref");
  return {};
}

function isPlain(value: unknown): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isBound(keyword: string): boolean {
  return bounds.some((each) => each === keyword);
}

/** Lengths and counts are whole; bounds of numbers are any. */
function isLimit(keyword: string, value: unknown): boolean {
  if (typeof value !== "number" || !Number.isFinite(value)) return false;
  return /^m(?:in|ax)imum$/.test(keyword) || (Number.isSafeInteger(value) && value >= 0);
}
