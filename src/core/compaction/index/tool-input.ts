// A tool's input as a value. Free-form input is its own text.
import type { JsonText } from "../../message/message.ts";

export function parseInput(inputJson: JsonText): unknown {
  try {
    return JSON.parse(inputJson);
  } catch {
    return inputJson;
  }
}

export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
