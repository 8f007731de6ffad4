// What this provider does with JSON besides reading it.
import { JsonFault, readJson, type Json, type JsonObject } from "../json-source.ts";

/** Null where the text is no JSON, or nested deeper than is read. */
export function parseJson(text: string): Json | null {
  try {
    return readJson(text, "kept");
  } catch (error) {
    if (error instanceof JsonFault) return null;
    throw error;
  }
}

/** The object without some of its own keys. */
export function withoutKeys(value: JsonObject, keys: readonly string[]): JsonObject {
  const fields = new Map([...value.fields].filter(([key]) => !keys.includes(key)));
  return { kind: "object", fields };
}
