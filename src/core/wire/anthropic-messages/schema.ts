// The provider's JSON: the names both directions use, and how a value of any shape is read.
import type { BlockKind } from "../../assembly/prompt-block.ts";
import { objectMembers, rootSpan } from "../../message/json-text.ts";
import type { JsonText } from "../../message/message.ts";
import type { Lifetime } from "../../message/usage.ts";
import { assert } from "../../assert.ts";

export const messagesPath = "/v1/messages";

export const versionHeader = "2023-06-01";

/** Required by every request with a system message that has `clear_at`. */
export const clearAtBeta = "mid-conversation-system-clear-at-2026-08-21";

/** Required by every request that asks for a summary or contains a signed one. */
export const compactionBeta = "compact-2026-09-04";

/** By the type's name, so that a known type in an unknown shape counts as what it is. */
export function kindOfType(type: string): BlockKind {
  switch (type) {
    case "text":
    case "image":
    case "document":
    case "tool_use":
    case "tool_result":
    case "thinking":
    case "redacted_thinking":
    case "compaction":
      return type;
    case "search_result":
      return "document";
    default:
      return isServerBlock(type) ? "server tool block" : "other";
  }
}

/** Uses and results of the provider's own tools, and blocks that add tools or files. */
function isServerBlock(type: string): boolean {
  return /^tool_|_use$|_result$|^container_upload$/.test(type);
}

export type WireRole = "user" | "assistant" | "system";

/** A marker as the value of `cache_control`. Five minutes is the provider's default. */
export function markerJson(lifetime: Lifetime): JsonText {
  assert(lifetime === "5m" || lifetime === "1h", `no marker lives for ${lifetime} here`);
  return lifetime === "5m" ? '{"type":"ephemeral"}' : '{"type":"ephemeral","ttl":"1h"}';
}

/** The text, or an empty one for anything else. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The exact text of each member of an object; of duplicates the last counts, as for every JSON parser. */
export function memberTexts(json: JsonText): Map<string, JsonText> {
  return new Map(
    objectMembers(json, rootSpan(json)).map(({ key, value }) => [
      key,
      json.slice(value.start, value.end),
    ]),
  );
}
