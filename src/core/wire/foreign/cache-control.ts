// Markers as `cache_control` spells them: on a block, inside it, or for the whole request.
import { lifetimes, type Lifetime } from "../../message/usage.ts";
import type { BlockDraft } from "./foreign-request.ts";
import { listOf, memberOf, textOf, type JsonNode } from "../../message/json-tree.ts";

/** A marker inside a tool result ends a prefix after the whole result. */
export function innerMarkers(block: JsonNode, path: string): BlockDraft["markers"] {
  const source = memberOf(block, "source");
  const [holder, at] =
    source?.kind === "object" ? [source, `${path}.source.content`] : [block, `${path}.content`];
  return listOf(holder, "content").flatMap((inner, index) => markersOf(inner, `${at}.${index}`));
}

export function markersOf(node: JsonNode, path: string): BlockDraft["markers"] {
  const lifetime = markerOf(node);
  return lifetime === null ? [] : [{ lifetime, path }];
}

/** A marker without a lifetime has the shortest. */
export function markerOf(node: JsonNode): Lifetime | null {
  const control = memberOf(node, "cache_control");
  if (control?.kind !== "object") return null;
  return lifetimes.find((lifetime) => lifetime === textOf(control, "ttl")) ?? "5m";
}
