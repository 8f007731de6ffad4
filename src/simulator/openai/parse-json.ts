// Reads JSON text into a tree that keeps the order of keys and the spelling of numbers.
import type { Json } from "./json.ts";

/** A body nested deeper is refused, so that reading it cannot exhaust the stack. */
const depthMax = 256;

/** Null where the text is no JSON. */
export function parseJson(text: string): Json | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  return readValue({ text, at: 0 }, 0);
}

/** From here on the text is known to be valid, so nothing is checked twice. */
interface Cursor {
  readonly text: string;
  at: number;
}

/** Null where it is nested too deep. */
function readValue(cursor: Cursor, depth: number): Json | null {
  skipSpace(cursor);
  if (depth > depthMax) return null;
  const { text, at: start } = cursor;
  if (text[start] === "{") return readObject(cursor, depth);
  if (text[start] === "[") return readArray(cursor, depth);
  if (text[start] === '"') return { kind: "string", value: readString(cursor) };
  while (cursor.at < text.length && !endsToken(text.charCodeAt(cursor.at))) cursor.at += 1;
  const source = text.slice(start, cursor.at);
  if (source === "null") return { kind: "literal", value: null };
  if (source === "true" || source === "false") return { kind: "literal", value: source === "true" };
  return { kind: "number", source };
}

function readObject(cursor: Cursor, depth: number): Json | null {
  const fields = new Map<string, Json>();
  cursor.at += 1;
  while (skipSpace(cursor) !== "}") {
    if (skipSpace(cursor) === ",") cursor.at += 1;
    skipSpace(cursor);
    const key = readString(cursor);
    skipSpace(cursor);
    cursor.at += 1;
    const value = readValue(cursor, depth + 1);
    if (value === null) return null;
    fields.set(key, value);
  }
  cursor.at += 1;
  return { kind: "object", fields };
}

function readArray(cursor: Cursor, depth: number): Json | null {
  const items: Json[] = [];
  cursor.at += 1;
  while (skipSpace(cursor) !== "]") {
    if (skipSpace(cursor) === ",") cursor.at += 1;
    const value = readValue(cursor, depth + 1);
    if (value === null) return null;
    items.push(value);
  }
  cursor.at += 1;
  return { kind: "array", items };
}

function readString(cursor: Cursor): string {
  const { text, at: start } = cursor;
  do cursor.at = text.indexOf('"', cursor.at + 1);
  while (isEscaped(text, cursor.at));
  cursor.at += 1;
  const inside = text.slice(start + 1, cursor.at - 1);
  if (!inside.includes("\\")) return inside;
  const decoded: unknown = JSON.parse(text.slice(start, cursor.at));
  return typeof decoded === "string" ? decoded : "";
}

function isEscaped(text: string, quote: number): boolean {
  let slashes = 0;
  while (text[quote - 1 - slashes] === "\\") slashes += 1;
  return slashes % 2 === 1;
}

/** Gives the character it stops at. */
function skipSpace(cursor: Cursor): string | undefined {
  while (isSpace(cursor.text.charCodeAt(cursor.at))) cursor.at += 1;
  return cursor.text[cursor.at];
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

function endsToken(code: number): boolean {
  return isSpace(code) || code === 44 || code === 93 || code === 125;
}
