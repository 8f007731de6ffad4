// Parses the JSON text a model wrote for a tool.
import type { JsonText } from "../message/message.ts";
import { isRecord } from "./input-schema.ts";
import type { ToolInput } from "./tool.ts";

export type ParsedInput =
  | { readonly input: ToolInput; readonly problem: null }
  | { readonly input: null; readonly problem: string };

/** Empty text counts as an empty object: models send it for no input. Never throws. */
export function parseInput(json: JsonText, charactersMax: number): ParsedInput {
  if (json.length > charactersMax) {
    return refuse(`has ${json.length} characters; ${charactersMax} are taken at most`);
  }
  if (json.trim() === "") return { input: {}, problem: null };
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? { input: value, problem: null } : refuse("must be a JSON object");
  } catch (error) {
    // The parser's message quotes the input; only the position helps.
    const place = error instanceof Error ? /position \d+/.exec(error.message)?.[0] : undefined;
    return refuse(`is not JSON${place === undefined ? "" : ` (at ${place})`}`);
  }
}

function refuse(problem: string): ParsedInput {
  return { input: null, problem };
}
