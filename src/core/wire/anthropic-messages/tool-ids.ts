// Ids of tool uses as the provider takes them. Those of another provider may hold a dot or a colon.
import { hashContent } from "../../hash.ts";
import { objectMembers, rootSpan } from "../../message/json-text.ts";
import type { JsonText } from "../../message/message.ts";

/** The same input gives the same id: a use and its result change alike. */
export function toTakenId(id: string): string {
  if (/^[a-zA-Z0-9_-]+$/.test(id)) return id;
  // The hash keeps ids apart that differ only in the replaced characters.
  return `${id.replaceAll(/[^a-zA-Z0-9_-]/g, "_")}_${hashContent(id).slice(0, 8)}`;
}

/** The block with an id that the provider accepts. No other byte changes. */
export function withTakenId(
  json: JsonText,
  type: string,
  fields: Readonly<Record<string, unknown>>,
): JsonText {
  const member = memberOf.get(type);
  const id = member === undefined ? undefined : fields[member];
  if (typeof id !== "string" || toTakenId(id) === id) return json;
  const places = objectMembers(json, rootSpan(json)).filter(({ key }) => key === member);
  return places.reduceRight(
    (text, { value: { start, end } }) =>
      text.slice(0, start) + JSON.stringify(toTakenId(id)) + text.slice(end),
    json,
  );
}

const memberOf: ReadonlyMap<string, string> = new Map([
  ["tool_use", "id"],
  ["tool_result", "tool_use_id"],
]);
