// Reads fields of a request, with the provider's words for errors.
import { invalid, missing, wrongType, wrongValue } from "../api-error.ts";
import {
  createFieldReader,
  pathOf,
  type FieldKind,
  type FieldReader,
  type Place,
} from "../../field-reader.ts";
import { JsonFault, readJson, type Json, type JsonObject } from "../../json-source.ts";

export { find, pathOf, type Place } from "../../field-reader.ts";

const names: Readonly<Record<FieldKind, string>> = {
  string: "a string",
  boolean: "a boolean",
  number: "a number",
  integer: "an integer",
  object: "an object",
  list: "an array of objects",
};

export const fields: FieldReader = createFieldReader({
  missing,
  wrongKind: (path, wanted, got) => wrongType(path, names[wanted], describe(got)),
  wrongChoice: (path, got, choices) =>
    got.kind === "string"
      ? wrongValue(path, got.text, choices)
      : wrongType(path, names.string, describe(got)),
  elementPath: (path, index) => `${path}[${index}]`,
});

export function findCount(place: Place, key: string, least: number): number | null {
  const count = fields.findInteger(place, key);
  if (count !== null && count < least) {
    const param = pathOf(place, key);
    const message = `Invalid '${param}': integer below minimum value. Expected a value >= ${least}, but got ${count} instead.`;
    throw invalid(message, param, "integer_below_min_value");
  }
  return count;
}

export function readBody(bodyText: string): Place {
  const body = parseJson(bodyText);
  if (body === null || body.kind !== "object") {
    throw invalid(
      "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON. If you have trouble figuring out how to fix this, please contact us through our help center at help.openai.com.)",
      null,
      null,
    );
  }
  return { object: body, path: "" };
}

/** Null if the text is not JSON, or nested too deeply. */
export function parseJson(text: string): Json | null {
  try {
    return readJson(text, "kept");
  } catch (error) {
    if (error instanceof JsonFault) return null;
    throw error;
  }
}

export function withoutKeys(value: JsonObject, keys: readonly string[]): JsonObject {
  const kept = [...value.fields].filter(([key]) => !keys.includes(key));
  return { kind: "object", fields: new Map(kept) };
}

export function unfit(place: Place, key: string, expected: string, got: Json): Error {
  return wrongType(pathOf(place, key), expected, describe(got));
}

function describe(value: Json): string {
  switch (value.kind) {
    case "object":
      return "an object";
    case "list":
      return "an array";
    case "string":
      return "a string";
    case "number":
      return /^-?\d+$/.test(value.source) ? "an integer" : "a decimal number";
    case "literal":
      return value.value === null ? "null" : "a boolean";
  }
}
