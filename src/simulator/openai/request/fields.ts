// Reads fields of a request. Every error names the parameter as the provider does.
import { invalid, missing, wrongType, wrongValue } from "../api-error.ts";
import { JsonFault, readJson, type Json, type JsonObject } from "../../json-source.ts";

export interface Place {
  readonly object: JsonObject;
  readonly path: string;
}

export function pathOf(place: Place, key: string): string {
  return place.path === "" ? key : `${place.path}.${key}`;
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
  const fields = new Map([...value.fields].filter(([key]) => !keys.includes(key)));
  return { kind: "object", fields };
}

/** Null if the field is absent or null; the provider uses the default for both. */
export function find(place: Place, key: string): Json | null {
  const value = place.object.fields.get(key);
  return value === undefined || (value.kind === "literal" && value.value === null) ? null : value;
}

export function textAt(place: Place, key: string): string {
  const value = findText(place, key);
  if (value === null) throw missing(pathOf(place, key));
  return value;
}

export function findText(place: Place, key: string): string | null {
  const value = find(place, key);
  if (value === null) return null;
  if (value.kind !== "string") throw unfit(place, key, "a string", value);
  return value.text;
}

export function findFlag(place: Place, key: string): boolean | null {
  const value = find(place, key);
  if (value === null) return null;
  if (value.kind !== "literal") throw unfit(place, key, "a boolean", value);
  return value.value === true;
}

export function findNumber(place: Place, key: string): number | null {
  const value = find(place, key);
  if (value === null) return null;
  if (value.kind !== "number") throw unfit(place, key, "a number", value);
  return Number(value.source);
}

export function findCount(place: Place, key: string, least: number): number | null {
  const value = find(place, key);
  if (value === null) return null;
  const count = value.kind === "number" ? Number(value.source) : Number.NaN;
  if (!Number.isSafeInteger(count)) throw unfit(place, key, "an integer", value);
  if (count < least) {
    const param = pathOf(place, key);
    const message = `Invalid '${param}': integer below minimum value. Expected a value >= ${least}, but got ${count} instead.`;
    throw invalid(message, param, "integer_below_min_value");
  }
  return count;
}

export function findOneOf<Choice extends string>(
  place: Place,
  key: string,
  choices: readonly Choice[],
): Choice | null {
  const value = findText(place, key);
  if (value === null) return null;
  const choice = choices.find((each) => each === value);
  if (choice === undefined) throw wrongValue(pathOf(place, key), value, choices);
  return choice;
}

export function findPlace(place: Place, key: string): Place | null {
  const value = find(place, key);
  if (value === null) return null;
  if (value.kind !== "object") throw unfit(place, key, "an object", value);
  return { object: value, path: pathOf(place, key) };
}

/** The elements of a list of objects, with their paths. */
export function findPlaces(place: Place, key: string): readonly Place[] | null {
  const value = find(place, key);
  if (value === null) return null;
  if (value.kind !== "list") throw unfit(place, key, "an array of objects", value);
  return value.items.map((item, index) => {
    const path = `${pathOf(place, key)}[${index}]`;
    if (item.kind !== "object") throw wrongType(path, "an object", describe(item));
    return { object: item, path };
  });
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
