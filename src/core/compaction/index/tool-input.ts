// A tool's input as a value. Free-form input is its own text.
import type { JsonText } from "../../message/message.ts";

export function parseInput(inputJson: JsonText): unknown {
  try {
    return JSON.parse(inputJson);
  } catch {
    return inputJson;
  }
}
