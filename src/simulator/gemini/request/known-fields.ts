// The names of a request's fields: both spellings are taken, an unknown name is refused as Google's JSON reader does it.
import { badFields } from "../api-error.ts";
import type { Json, JsonObject } from "../../json-source.ts";
import known from "./data/fields.json" with { type: "json" };

export type ShapeName = keyof typeof known.shapes;

type Violation = Parameters<typeof badFields>[0][number];

const shapes: Readonly<Record<string, Readonly<Record<string, string>>>> = known.shapes;

/** Past this number of violations none is added: the answer stays short for a hostile body. */
const violationsMax = 50;

/** The same object with names in camelCase. Throws the provider's error for names that no message has. */
export function normalise(object: JsonObject, shape: ShapeName): JsonObject {
  const violations: Violation[] = [];
  const named = nameFields(object, shape, "", violations);
  if (violations.length > 0) throw badFields(violations);
  return named;
}

function add(violations: Violation[], violation: Violation): void {
  if (violations.length < violationsMax) violations.push(violation);
}

function nameFields(
  { fields }: JsonObject,
  shape: string,
  path: string,
  violations: Violation[],
): JsonObject {
  const named = new Map<string, Json>();
  for (const [key, value] of fields) {
    const name = toCamel(key);
    const form = Object.hasOwn(shapes[shape] ?? {}, name) ? shapes[shape]?.[name] : undefined;
    if (form === undefined) add(violations, unknownName(key, path));
    else named.set(name, nameValue(value, form, join(path, name), violations));
  }
  return { kind: "object", fields: named };
}

function nameValue(value: Json, form: string, path: string, violations: Violation[]): Json {
  const { shape, many } = readForm(form);
  if (shape === "any" || value.kind === "literal") return value;
  if (many === "map") return nameEntries(value, shape, path, violations);
  if (many === "list") {
    // A message alone counts as a list of one.
    const items = value.kind === "list" ? value.items : [value];
    return {
      kind: "list",
      items: items.map((item, index) => nameOne(item, shape, `${path}[${index}]`, violations)),
    };
  }
  if (value.kind === "list") {
    add(violations, notRepeating(path));
    return value;
  }
  return nameOne(value, shape, path, violations);
}

function nameOne(value: Json, shape: string, path: string, violations: Violation[]): Json {
  return value.kind === "object" ? nameFields(value, shape, path, violations) : value;
}

/** Google numbers the entries of a map in its paths. */
function nameEntries(value: Json, shape: string, path: string, violations: Violation[]): Json {
  if (value.kind !== "object") return value;
  const entries = [...value.fields].map(
    ([key, each], index) =>
      [key, nameOne(each, shape, `${path}[${index}].value`, violations)] as const,
  );
  return { kind: "object", fields: new Map(entries) };
}

function readForm(form: string): { shape: string; many: "list" | "map" | "one" } {
  if (form.endsWith("[]")) return { shape: form.slice(0, -2), many: "list" };
  if (form.endsWith("{}")) return { shape: form.slice(0, -2), many: "map" };
  return { shape: form, many: "one" };
}

function unknownName(key: string, path: string): Violation {
  const field = toSnakePath(path);
  const place = field === "" ? "" : ` at '${field}'`;
  const name = JSON.stringify(key.length > 200 ? `${key.slice(0, 200)}…` : key);
  const description = `Invalid JSON payload received. Unknown name ${name}${place}: Cannot find field.`;
  return { field, description };
}

function notRepeating(path: string): Violation {
  const dot = path.lastIndexOf(".");
  const field = toSnakePath(dot === -1 ? "" : path.slice(0, dot));
  const name = JSON.stringify(path.slice(dot + 1));
  const place = field === "" ? "" : ` at '${field}'`;
  return {
    field,
    description: `Invalid JSON payload received. Unknown name ${name}${place}: Proto field is not repeating, cannot start list.`,
  };
}

/** Paths in errors are spelled in snake_case. */
export function toSnakePath(path: string): string {
  return path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function toCamel(key: string): string {
  return key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
