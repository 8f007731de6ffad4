// The JSON text a model wrote for a tool → its value, once.
import type { JsonText } from "../message/message.ts";
import { isObject } from "../message/fields.ts";
import type { ToolInput } from "./tool.ts";

export type ParsedInput =
  | { readonly input: ToolInput; readonly problem: null }
  | { readonly input: null; readonly problem: string };

/** A model that has nothing to say leaves the text empty; that is an empty object. Never throws. */
export function parseInput(json: JsonText, charactersMax: number): ParsedInput {
  if (json.length > charactersMax) {
    return refuse(`has ${json.length} characters; ${charactersMax} are taken at most`);
  }
  if (json.trim() === "") return { input: {}, problem: null };
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? { input: value, problem: null } : refuse("must be a JSON object");
  } catch (error) {
    // The parser's words quote the text; the place is what helps.
    const place = error instanceof Error ? /position \d+/.exec(error.message)?.[0] : undefined;
    return refuse(`is not JSON${place === undefined ? "" : ` (at ${place})`}`);
  }
}

function refuse(problem: string): ParsedInput {
  return { input: null, problem };
}
