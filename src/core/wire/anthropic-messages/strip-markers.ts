// Removes markers that came with a block from an earlier request. Changes no other byte.
import { arrayItems, objectMembers, rootSpan, type Span } from "../../message/json-text.ts";
import type { JsonText } from "../../message/message.ts";

/**
 * The object without its own markers and without those of the blocks in its `content`. Anything
 * else of that name, such as a tool's input, stays.
 */
export function withoutMarkers(json: JsonText): JsonText {
  // A key may be written with escapes.
  if (!json.includes("cache_control") && !json.includes("\\u")) return json;
  return strip(json, rootSpan(json), "with content");
}

function strip(json: JsonText, span: Span, how: "with content" | "alone"): JsonText {
  if (json[span.start] !== "{") return json.slice(span.start, span.end);
  const kept: string[] = [];
  let from = span.start + 1;
  for (const { key, value } of objectMembers(json, span)) {
    if (key !== "cache_control") {
      const before = json.slice(from, value.start);
      const isList = key === "content" && json[value.start] === "[";
      const text =
        isList && how === "with content"
          ? stripItems(json, value)
          : json.slice(value.start, value.end);
      kept.push((kept.length === 0 ? before.replace(/^\s*,/, "") : before) + text);
    }
    from = value.end;
  }
  return `{${kept.join("")}${json.slice(from, span.end)}`;
}

function stripItems(json: JsonText, span: Span): JsonText {
  let text = "";
  let from = span.start;
  for (const item of arrayItems(json, span)) {
    text += json.slice(from, item.start) + strip(json, item, "alone");
    from = item.end;
  }
  return text + json.slice(from, span.end);
}
