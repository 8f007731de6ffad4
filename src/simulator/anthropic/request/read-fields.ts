// Readers of request fields. Errors have the provider's words and the field's path.
import type { Json, JsonList, JsonObject } from "../../json-source.ts";
import { extraInput, invalid, type Refusal } from "../refusal.ts";

/** The field; null if it is absent or null. */
export function fieldOf(object: JsonObject, name: string): Json | null {
  const value = object.fields.get(name);
  return value === undefined || (value.kind === "literal" && value.value === null) ? null : value;
}

export function pathOf(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

export function asObject(json: Json | null, path: string): JsonObject {
  if (json === null) throw required(path);
  if (json.kind !== "object") throw invalid(`${path}: Input should be an object`);
  return json;
}

export function asList(json: Json | null, path: string): JsonList {
  if (json === null) throw required(path);
  if (json.kind !== "list") throw invalid(`${path}: Input should be a valid list`);
  return json;
}

export function asText(json: Json | null, path: string): string {
  if (json === null) throw required(path);
  if (json.kind !== "string") throw invalid(`${path}: Input should be a valid string`);
  return json.text;
}

export function asInteger(json: Json | null, path: string): number {
  if (json === null) throw required(path);
  const value = json.kind === "number" ? Number(json.source) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw invalid(`${path}: Input should be a valid integer`);
  return value;
}

export function asBoolean(json: Json | null, path: string): boolean {
  if (json === null) throw required(path);
  if (json.kind !== "literal" || json.value === null)
    throw invalid(`${path}: Input should be a valid boolean`);
  return json.value;
}

export function asOneOf<Choice extends string>(
  json: Json | null,
  choices: readonly Choice[],
  path: string,
): Choice {
  if (json === null) throw required(path);
  const found = choices.find((choice) => json.kind === "string" && choice === json.text);
  if (found !== undefined) return found;
  const quoted = choices.map((choice) => `'${choice}'`);
  const last = quoted.pop() ?? "";
  const list = quoted.length === 0 ? last : `${quoted.join(", ")} or ${last}`;
  throw invalid(`${path}: Input should be ${list}`);
}

/** Reads a field; null if it is absent or null. */
export function optional<Value>(
  object: JsonObject,
  name: string,
  path: string,
  read: (json: Json, path: string) => Value,
): Value | null {
  const value = fieldOf(object, name);
  return value === null ? null : read(value, pathOf(path, name));
}

export function refuseExtras(object: JsonObject, known: ReadonlySet<string>, path: string): void {
  for (const name of object.fields.keys()) {
    if (!known.has(name)) throw extraInput(pathOf(path, name));
  }
}

/** The text of a field, or `otherwise` if it has none. For display, never for checks. */
export function textOr(object: JsonObject, name: string, otherwise: string): string {
  const value = object.fields.get(name);
  return value?.kind === "string" ? value.text : otherwise;
}

function required(path: string): Refusal {
  return invalid(`${path}: Field required`);
}
