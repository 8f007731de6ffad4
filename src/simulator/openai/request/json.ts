// JSON helpers of the OpenAI surface.
import { JsonFault, readJson, type Json, type JsonObject } from "../../json-source.ts";

/** Null if the text is not JSON, or nested too deeply. */
export function parseJson(text: string): Json | null {
  try {
    return readJson(text, "kept");
  } catch (error) {
    if (error instanceof JsonFault) return null;
    throw error;
  }
}

/** A copy without some top-level keys. */
export function withoutKeys(value: JsonObject, keys: readonly string[]): JsonObject {
  const fields = new Map([...value.fields].filter(([key]) => !keys.includes(key)));
  return { kind: "object", fields };
}
