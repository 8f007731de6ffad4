// A function's arguments: text in these protocols, one JSON object in ours.
import { isObject } from "../../message/fields.ts";
import { escapeLoneSurrogates } from "../../message/json-text.ts";
import type { JsonText } from "../../message/message.ts";

/**
 * The arguments to the byte. An empty text means no input. A model may also write something that is
 * not a JSON object: it is kept whole under one key, so that every protocol can carry it and the
 * model can see what it wrote; `toArguments` returns the exact text.
 */
export function toInputJson(argumentsText: string): JsonText {
  const text = escapeLoneSurrogates(argumentsText);
  if (text.trim() === "") return "{}";
  const isInput = isObject(parseOrUndefined(text)) && unwrap(text) === undefined;
  return isInput ? text : wrap(text);
}

export function toArguments(inputJson: JsonText): string {
  return unwrap(inputJson) ?? inputJson;
}

const rawKey = "invalid_arguments";

function wrap(text: string): JsonText {
  return `{"${rawKey}":${JSON.stringify(text)}}`;
}

function unwrap(json: JsonText): string | undefined {
  if (!json.startsWith(`{"${rawKey}":"`)) return undefined;
  const value = parseOrUndefined(json);
  const text = isObject(value) ? value[rawKey] : undefined;
  return typeof text === "string" && wrap(text) === json ? text : undefined;
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
