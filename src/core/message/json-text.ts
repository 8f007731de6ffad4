// JSON as text: finds parts without changing a byte.
import { StrataError, messageOf } from "../strata-error.ts";
import type { JsonText } from "./message.ts";

/** A part of a JSON text, from `start` up to but not including `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Member {
  readonly key: string;
  readonly value: Span;
}

/**
 * Accepts text that is exactly one JSON value. Escapes lone surrogates, which UTF-8 cannot carry bare;
 * changes nothing else.
 */
export function parseJsonText(text: string, what: string): JsonText {
  try {
    JSON.parse(text);
  } catch (cause) {
    const reason = messageOf(cause);
    throw new StrataError(
      "input-invalid",
      `${what} is not JSON: ${reason}`,
      "send exactly one JSON value",
      { cause },
    );
  }
  return escapeLoneSurrogates(text);
}

/** The whole value of a valid JSON text, without the white space around it. */
export function rootSpan(json: JsonText): Span {
  const start = skipSpace(json, 0);
  return { start, end: endOfValue(json, start) };
}

/** The members of the object at `span`, in the order written, duplicates included; none if it is no object. */
export function objectMembers(json: JsonText, span: Span): Member[] {
  const members: Member[] = [];
  if (json[span.start] !== "{") return members;
  let at = skipSpace(json, span.start + 1);
  while (json[at] !== "}") {
    const keyEnd = endOfString(json, at);
    const key = stringAt(json, { start: at, end: keyEnd });
    const start = skipSpace(json, skipSpace(json, keyEnd) + 1);
    const end = endOfValue(json, start);
    members.push({ key, value: { start, end } });
    at = skipSeparator(json, end);
  }
  return members;
}

/** The items of the array at `span`; none if it is no array. */
export function arrayItems(json: JsonText, span: Span): Span[] {
  const items: Span[] = [];
  if (json[span.start] !== "[") return items;
  let start = skipSpace(json, span.start + 1);
  while (json[start] !== "]") {
    const end = endOfValue(json, start);
    items.push({ start, end });
    start = skipSeparator(json, end);
  }
  return items;
}

/** The exact text of each member of an object; the last of duplicates, as in every JSON parser. None for other JSON. */
export function memberTexts(json: JsonText): Map<string, JsonText> {
  const members = objectMembers(json, rootSpan(json));
  return new Map(members.map(({ key, value }) => [key, json.slice(value.start, value.end)]));
}

/** The exact text of each item; none if the text is not an array. */
export function itemTexts(json: JsonText): JsonText[] {
  return arrayItems(json, rootSpan(json)).map(({ start, end }) => json.slice(start, end));
}

/** The decoded string at `span`, which must be a JSON string. */
export function stringAt(json: JsonText, span: Span): string {
  const bare = json.slice(span.start + 1, span.end - 1);
  return bare.includes("\\") ? String(JSON.parse(json.slice(span.start, span.end))) : bare;
}

// The text is valid JSON, so the scanners below only look for where things end.

function endOfValue(json: JsonText, start: number): number {
  const first = json[start];
  if (first === '"') return endOfString(json, start);
  if (first !== "{" && first !== "[") return endOfScalar(json, start);
  let depth = 0;
  for (let at = start; at < json.length; at += 1) {
    const character = json[at];
    if (character === '"') at = endOfString(json, at) - 1;
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return json.length;
}

/** The index after the closing quote, which is the first quote with an even number of backslashes before it. */
export function endOfString(json: JsonText, start: number): number {
  let quote = json.indexOf('"', start + 1);
  while (quote !== -1) {
    let slashes = 0;
    while (json[quote - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
    quote = json.indexOf('"', quote + 1);
  }
  return json.length;
}

export function endOfScalar(json: JsonText, start: number): number {
  let at = start;
  while (at < json.length && !" \t\n\r,]}".includes(json.charAt(at))) at += 1;
  return at;
}

export function skipSpace(json: JsonText, start: number): number {
  let at = start;
  while (at < json.length && " \t\n\r".includes(json.charAt(at))) at += 1;
  return at;
}

export function skipSeparator(json: JsonText, start: number): number {
  const at = skipSpace(json, start);
  return json[at] === "," ? skipSpace(json, at + 1) : at;
}

/** Escapes lone surrogates, so that the text survives UTF-8. */
export function escapeLoneSurrogates(text: string): JsonText {
  if (text.isWellFormed()) return text;
  let out = "";
  for (const character of text) {
    out += character.isWellFormed()
      ? character
      : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  }
  return out;
}
