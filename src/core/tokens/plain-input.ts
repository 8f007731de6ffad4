// A tool input as the model reads it: without JSON's quotes, braces and escapes.
import { isObject } from "../message/fields.ts";
import type { JsonText } from "../message/message.ts";

export interface PlainInput {
  /** Keys and values, one per line, in written order. */
  readonly text: string;
  /** Members of the outermost object. */
  readonly arguments: number;
}

/** Text that is not JSON stays as it is: free-form tool inputs are already plain text. */
export function plainInput(inputJson: JsonText): PlainInput {
  let input: unknown;
  try {
    input = JSON.parse(inputJson);
  } catch {
    return { text: inputJson, arguments: 0 };
  }
  const lines: string[] = [];
  // A stack instead of recursion, because inputs may be nested to any depth.
  const waiting: unknown[] = [input];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (Array.isArray(value)) {
      for (let at = value.length - 1; at >= 0; at -= 1) waiting.push(value[at]);
    } else if (typeof value === "object" && value !== null) {
      for (const [key, part] of Object.entries(value).toReversed()) waiting.push(part, key);
    } else {
      lines.push(String(value));
    }
  }
  return { text: lines.join("\n"), arguments: memberCount(input) };
}

function memberCount(input: unknown): number {
  return isObject(input) ? Object.keys(input).length : 0;
}
