// Tools, system text and messages in the Messages API's form, as drafts. Transcripts keep their messages in it too.
import type { BlockKind } from "../../core/assembly/prompt-block.ts";
import { isObject } from "../../core/message/fields.ts";
import { canonicalJsonOf } from "../../core/message/json-text.ts";
import type { JsonText } from "../../core/message/message.ts";
import type { Lifetime } from "../../core/message/usage.ts";
import { fieldsOf, listIn, textIn, type Fields } from "../../core/message/fields.ts";
import { createDraft, type BlockDraft, type Drafting } from "./block-draft.ts";
import { toCountedBlock } from "./counted-block.ts";

/** The tools a request shows. A deferred one is outside the prompt until a message names it. */
export function draftTools(tools: unknown, drafting: Drafting): BlockDraft[] {
  return listOf(tools)
    .map(fieldsOf)
    .filter((tool) => tool["defer_loading"] !== true)
    .map((tool) => {
      const json = toHashedJson(tool);
      return createDraft(
        {
          json,
          content: { type: "text", text: json },
          opensReply: false,
          tier: "T0",
          kind: "tool definition",
          role: "tools",
          endsMessage: true,
          mayCarryMarker: true,
          marker: markerOf(tool),
        },
        drafting,
      );
    });
}

/** Text, or a list of blocks. */
export function draftSystem(system: unknown, drafting: Drafting): BlockDraft[] {
  return blocksOf(system).map((block, index, blocks) => {
    const isEmpty = textIn(block, "text") === "";
    return createDraft(
      {
        json: toHashedJson(block),
        content: toCountedBlock(block),
        opensReply: false,
        tier: "T1",
        kind: isEmpty ? "empty text" : "system text",
        role: "system",
        endsMessage: index === blocks.length - 1,
        mayCarryMarker: !isEmpty,
        marker: markerOf(block),
      },
      drafting,
    );
  });
}

/** One message; a role that is neither the model's nor the system's speaks for the user. */
export function draftMessage(message: Fields, drafting: Drafting): BlockDraft[] {
  const role = roleOf(textIn(message, "role"));
  const isClearing = message["clear_at"] === "next_user_message";
  return blocksOf(message["content"]).map((block, index, blocks) => {
    const kind = isClearing ? "system message cleared at the next user message" : kindOf(block);
    return createDraft(
      {
        json: toHashedJson(block),
        content: toCountedBlock(block),
        opensReply: role === "assistant" && index === 0,
        tier: "T3",
        kind,
        role,
        endsMessage: index === blocks.length - 1,
        mayCarryMarker: !neverMarked.has(kind),
        marker: markerOf(block),
      },
      drafting,
    );
  });
}

/** Text counts as a list of one block. */
export function blocksOf(content: unknown): Fields[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return listOf(content).flatMap((item) => {
    if (typeof item === "string") return [{ type: "text", text: item }];
    return isObject(item) ? [item] : [];
  });
}

/** The marker on an object, or on a block inside it; one without a lifetime lives five minutes. */
export function markerOf(fields: Fields): Lifetime | null {
  const control = fields["cache_control"];
  if (isObject(control)) return control["ttl"] === "1h" ? "1h" : "5m";
  if (fields["type"] !== "tool_result") return null;
  const inner = listIn(fields, "content").map((block) => markerOf(fieldsOf(block)));
  return inner.findLast((marker) => marker !== null) ?? null;
}

/**
 * Equal for content that a provider reads as equal: without markers, keys sorted, and text the same
 * whether it comes alone or as a list of one block. Only a tool's input keeps its order, which counts.
 */
export function toHashedJson(fields: Fields): JsonText {
  const plain = withoutMarkers(fields);
  const input = plain["input"];
  const hashed = isObject(input) ? { ...plain, input: JSON.stringify(input) } : plain;
  try {
    return canonicalJsonOf(hashed);
  } catch {
    // Nested deeper than is worth sorting.
    return JSON.stringify(hashed);
  }
}

function withoutMarkers(fields: Fields): Fields {
  const { cache_control: _marker, prompt_cache_breakpoint: _breakpoint, ...plain } = fields;
  const content = plain["content"];
  if (!Array.isArray(content)) return plain;
  const inner = content.map((item: unknown) => (isObject(item) ? withoutMarkers(item) : item));
  const [only] = inner;
  const isText = inner.length === 1 && isObject(only) && only["type"] === "text";
  return { ...plain, content: isText && Object.keys(only).length === 2 ? only["text"] : inner };
}

const neverMarked: ReadonlySet<BlockKind> = new Set([
  "thinking",
  "redacted_thinking",
  "empty text",
  "system message cleared at the next user message",
]);

function kindOf(block: Fields): BlockKind {
  const type = textIn(block, "type") ?? "";
  switch (type) {
    case "text":
      return textIn(block, "text") === "" ? "empty text" : "text";
    case "image":
    case "document":
    case "tool_use":
    case "tool_result":
    case "thinking":
    case "redacted_thinking":
    case "compaction":
      return type;
    default:
      return /^(?:server|mcp)_tool_use$|_tool_result$/.test(type) ? "server tool block" : "other";
  }
}

function roleOf(role: string | undefined): "user" | "assistant" | "system" {
  return role === "assistant" || role === "system" ? role : "user";
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
