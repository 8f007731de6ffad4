// What Claude Code gives on standard input: one JSON object.
import { text } from "node:stream/consumers";
import { parseFields, type Fields } from "../../core/message/fields.ts";

/** Null if it is no JSON object. */
export async function readGiven(): Promise<Fields | null> {
  // Typed by a person: there is nothing to wait for.
  if (process.stdin.isTTY) return null;
  return parseFields(await text(process.stdin)) ?? null;
}
