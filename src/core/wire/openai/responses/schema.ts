// Items of the Responses API as far as they are read. An item that says more than we keep stays verbatim.
import { objectMembers, rootSpan, type Span } from "../../../message/json-text.ts";
import type { JsonText } from "../../../message/message.ts";
import {
  fieldsOf,
  hasOnly,
  listIn,
  parseFields,
  textIn,
  type Fields,
} from "../../../message/fields.ts";

export const responsesPath = "/responses";

export type Item =
  | {
      readonly kind: "message";
      readonly text: string;
      readonly isRefusal: boolean;
      /** Whether our own spelling of the text says all that the item says. */
      readonly isPlain: boolean;
    }
  | {
      readonly kind: "call";
      readonly callId: string;
      readonly name: string;
      readonly argumentsText: string;
      readonly isPlain: boolean;
    }
  /** What the model thought, sealed by the provider. */
  | { readonly kind: "reasoning"; readonly summary: string; readonly sealed: string }
  /** What a user said, as the provider gives it back in place of a conversation. */
  | { readonly kind: "user message"; readonly text: string }
  /** What else the conversation was, sealed by the provider. */
  | { readonly kind: "compaction"; readonly sealed: string }
  | { readonly kind: "other"; readonly type: string };

/** Null for what is no item of this API, such as a block of another provider. */
export function readItem(json: JsonText): Item | null {
  const item = parseFields(json);
  return item === undefined ? null : readItemFields(item);
}

export function readItemFields(item: Fields): Item | null {
  const type = textIn(item, "type") ?? "";
  switch (type) {
    case "message":
      return textIn(item, "role") === "assistant" ? readMessage(item) : otherMessage(item);
    case "function_call":
      return readCall(item);
    case "reasoning":
      return {
        kind: "reasoning",
        summary: textsOf(listIn(item, "summary"), "text"),
        sealed: textIn(item, "encrypted_content") ?? "",
      };
    case "compaction": {
      // Another provider has blocks of this name, with their text in the open.
      const sealed = textIn(item, "encrypted_content");
      return sealed === undefined || Object.hasOwn(item, "content") ? null : { kind: type, sealed };
    }
    default:
      return isItemType(type) ? { kind: "other", type } : null;
  }
}

/** The exact text of one member of a JSON object, which must be valid; undefined where there is none. */
export function memberText(json: JsonText, name: string): JsonText | undefined {
  const span = memberSpan(json, rootSpan(json), name);
  return span === undefined ? undefined : json.slice(span.start, span.end);
}

/** The last of members with the same name, as every parser takes it. */
export function memberSpan(json: JsonText, object: Span, name: string): Span | undefined {
  return objectMembers(json, object).findLast((member) => member.key === name)?.value;
}

const itemTypes = new Set([
  "additional_tools",
  "compaction_trigger",
  "configuration_update",
  "item_reference",
  "mcp_approval_request",
  "mcp_approval_response",
  "mcp_list_tools",
  "program",
]);

/** By name, or by how this API names what a tool is asked and what it answers. */
function isItemType(type: string): boolean {
  return itemTypes.has(type) || /_(?:call|output)$/.test(type);
}

function readMessage(item: Fields): Item {
  const parts = listIn(item, "content").map(fieldsOf);
  const [first] = parts;
  const isRefusal = parts.some((part) => textIn(part, "type") === "refusal");
  return {
    kind: "message",
    text: parts.map((part) => textIn(part, "text") ?? textIn(part, "refusal") ?? "").join(""),
    isRefusal,
    isPlain:
      first !== undefined &&
      parts.length === 1 &&
      isPlainText(first) &&
      hasOnly(item, ["id", "type", "status", "role", "content"]),
  };
}

function isPlainText(part: Fields): boolean {
  return (
    textIn(part, "type") === "output_text" &&
    listIn(part, "annotations").length === 0 &&
    hasOnly(part, ["type", "text", "annotations", "logprobs"])
  );
}

function otherMessage(item: Fields): Item | null {
  const role = textIn(item, "role");
  if (role === undefined) return null;
  if (role !== "user") return { kind: "other", type: "message" };
  return { kind: "user message", text: textsOf(listIn(item, "content"), "text") };
}

function readCall(item: Fields): Item {
  const [callId, name] = [textIn(item, "call_id"), textIn(item, "name")];
  if (callId === undefined || name === undefined) return { kind: "other", type: "function_call" };
  return {
    kind: "call",
    callId,
    name,
    argumentsText: textIn(item, "arguments") ?? "",
    isPlain: hasOnly(item, ["id", "type", "status", "call_id", "name", "arguments"]),
  };
}

function textsOf(parts: readonly unknown[], name: string): string {
  return parts.map((part) => textIn(fieldsOf(part), name) ?? "").join("\n");
}
