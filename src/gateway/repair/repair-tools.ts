// Tools in the order of their names, and their schemas with sorted keys. Markers stay where they are in the list.
import {
  arrayItems,
  objectMembers,
  rootSpan,
  stringAt,
  type Span,
} from "../../core/message/json-text.ts";
import type { ForeignRepairing } from "../../core/wire/foreign/foreign-reader.ts";
import { Unclear } from "./splice-edits.ts";

export interface ToolRepairs {
  readonly sorts: boolean;
  readonly hasCanonicalSchemas: boolean;
  readonly repairing: Pick<ForeignRepairing, "toolName" | "toolSchema">;
  /** The members that are markers. */
  readonly markerNames: readonly string[];
}

/**
 * The bytes of the list as text, one character each. Null if nothing changes, or if it is not clear what would mean the same:
 * two tools of one name, a tool without one.
 */
export function repairTools(source: string, repairs: ToolRepairs): string | null {
  try {
    const list = rootSpan(source);
    const items = arrayItems(source, list);
    const tools = items.map((span) => readTool(source, span, repairs));
    const order = repairs.sorts ? sortTools(tools) : tools;
    const marks = placeMarkers(tools, order);
    // What stands between two tools stays there.
    const written = items.map(({ end }, at) => {
      const next = items[at + 1]?.start ?? list.end;
      return withMarker(order[at]?.text ?? "", marks.get(at)) + source.slice(end, next);
    });
    const [first] = items;
    const repaired = source.slice(0, first?.start ?? list.end) + written.join("");
    return repaired === source ? null : repaired;
  } catch (error) {
    if (error instanceof Unclear) return null;
    throw error;
  }
}

interface Tool {
  readonly name: string;
  readonly isDeferred: boolean;
  /** Without its marker. */
  readonly text: string;
  /** Its marker as it is written, with its name; null for none. */
  readonly marker: string | null;
}

function readTool(
  source: string,
  span: Span,
  { repairing, markerNames, hasCanonicalSchemas }: ToolRepairs,
): Tool {
  const members = objectMembers(source, span);
  const named = valueAt(source, span, repairing.toolName);
  if (named === null || source[named.start] !== '"') throw new Unclear();
  const schema = hasCanonicalSchemas ? valueAt(source, span, repairing.toolSchema) : null;
  const at = members.findIndex(({ key }) => markerNames.includes(key));
  const own = members[at];
  const deferred = members.find(({ key }) => key === "defer_loading")?.value;
  const parts: [Span, string][] = [];
  if (own !== undefined) {
    // The comma before it goes, too. A marker that comes first would need the one behind it.
    const before = members[at - 1];
    if (before === undefined) throw new Unclear();
    parts.push([{ start: before.value.end, end: own.value.end }, ""]);
  }
  if (schema !== null) parts.push([schema, canonical(source, schema)]);
  return {
    name: stringAt(source, named),
    isDeferred: deferred !== undefined && source.slice(deferred.start, deferred.end) === "true",
    text: replaced(source, span, parts),
    marker:
      own === undefined
        ? null
        : `${JSON.stringify(own.key)}:${source.slice(own.value.start, own.value.end)}`,
  };
}

/** Deferred tools come last: they are in no prefix, and carry no marker. */
function sortTools(tools: readonly Tool[]): readonly Tool[] {
  if (new Set(tools.map(({ name }) => name)).size < tools.length) throw new Unclear();
  const rank = ({ isDeferred, name }: Tool): string => `${isDeferred ? 1 : 0}${name}`;
  return tools.toSorted((left, right) => (rank(left) < rank(right) ? -1 : 1));
}

/** A marker ends a prefix of as many tools as before. */
function placeMarkers(
  tools: readonly Tool[],
  order: readonly Tool[],
): ReadonlyMap<number, string | null> {
  const places = order.flatMap(({ isDeferred }, at) => (isDeferred ? [] : [at]));
  const marks = new Map<number, string | null>();
  let shown = 0;
  for (const { isDeferred, marker } of tools) {
    if (isDeferred && marker !== null) throw new Unclear();
    const place = places[shown];
    if (!isDeferred) shown += 1;
    if (marker !== null && place !== undefined) marks.set(place, marker);
  }
  return marks;
}

function withMarker(text: string, marker: string | null | undefined): string {
  return marker == null ? text : `${text.slice(0, -1)},${marker}}`;
}

function valueAt(source: string, span: Span, path: readonly string[]): Span | null {
  let found = span;
  for (const step of path) {
    const named = objectMembers(source, found).filter(({ key }) => key === step);
    if (named.length > 1) throw new Unclear();
    const [member] = named;
    if (member === undefined) return null;
    found = member.value;
  }
  return found;
}

/** Keys in one order, without white space. Everything else keeps its spelling and its place. */
function canonical(source: string, span: Span): string {
  if (source[span.start] === "[") {
    return `[${arrayItems(source, span)
      .map((item) => canonical(source, item))
      .join(",")}]`;
  }
  if (source[span.start] !== "{") return source.slice(span.start, span.end);
  const members = objectMembers(source, span);
  if (new Set(members.map(({ key }) => key)).size < members.length) throw new Unclear();
  const sorted = members.toSorted((left, right) => (left.key < right.key ? -1 : 1));
  return `{${sorted
    .map(({ key, value }) => `${JSON.stringify(key)}:${canonical(source, value)}`)
    .join(",")}}`;
}

/** The text of a span, with other texts in place of parts of it. */
function replaced(source: string, { start, end }: Span, parts: [Span, string][]): string {
  let text = "";
  let from = start;
  for (const [part, by] of parts.toSorted(([left], [right]) => left.start - right.start)) {
    text += source.slice(from, part.start) + by;
    from = part.end;
  }
  return text + source.slice(from, end);
}
