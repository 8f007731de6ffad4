// Reads fields of a request, with the provider's words for errors.
import { badFields, invalid } from "../api-error.ts";
import {
  createFieldReader,
  find,
  type FieldKind,
  type FieldReader,
  type Place,
} from "../../field-reader.ts";
import { compactJson, JsonFault, readJson, type Json } from "../../json-source.ts";
import { normalise, toSnakePath, type ShapeName } from "./known-fields.ts";

export { find, pathOf, type Place } from "../../field-reader.ts";

/** The wire types that Google names for a value of the wrong kind. */
const types: Readonly<Record<FieldKind, string>> = {
  string: "TYPE_STRING",
  boolean: "TYPE_BOOL",
  number: "TYPE_FLOAT",
  integer: "TYPE_INT32",
  object: "TYPE_MESSAGE",
  list: "TYPE_MESSAGE",
};

export const fields: FieldReader = createFieldReader({
  missing: (path) => invalid(`* ${toSnakePath(path)}: ${toSnakePath(path)} is not specified\n`),
  wrongKind: (path, wanted, got) => wrongValue(path, types[wanted], got),
  wrongChoice: (path, got) => wrongValue(path, "TYPE_ENUM", got),
  elementPath: (path, index) => `${path}[${index}]`,
});

/** A whole number: Google's readers take it as text too. */
export function findWhole(place: Place, key: string): number | null {
  const value = find(place, key);
  const text = value?.kind === "string" && /^-?\d{1,15}$/.test(value.text) ? value.text : null;
  return text === null ? fields.findInteger(place, key) : Number(text);
}

export function wrongValue(path: string, type: string, got: Json): Error {
  const field = toSnakePath(path);
  const description = `Invalid value at '${field}' (${type}), ${compactJson(got)}`;
  return badFields([{ field, description }]);
}

/** Parses a body and names its fields as the reader expects them; an unknown name is refused. */
export function readBody(bodyText: string, shape: ShapeName): Place {
  const body = parseBody(bodyText);
  if (body.kind !== "object") {
    throw invalid("Invalid JSON payload received. Root element must be a message.");
  }
  return { object: normalise(body, shape), path: "" };
}

function parseBody(text: string): Json {
  try {
    return readJson(text.trim() === "" ? "{}" : text, "kept");
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw invalid(`Invalid JSON payload received. ${error.message} at character ${error.at}.`);
  }
}
