// The JSON of the Responses API: requests as we write them, and the members of items that we read.
import type { JsonText } from "../../../message/message.ts";
import * as fields from "../../../message/fields.ts";

export const responsesPath = "/responses";

/** A request. The model's own items are kept verbatim and may be of further types. */
export interface ResponsesRequest {
  model: string;
  input: (
    | { type: "message"; role: "user" | "developer"; content: InputPart[] }
    | { type: "function_call"; call_id: string; name: string; arguments: string }
    | { type: "function_call_output"; call_id: string; output: string | InputPart[] }
  )[];
  tools?: {
    type: "function";
    name: string;
    description: string;
    parameters: Record<string, unknown>;
    strict: boolean;
  }[];
  max_output_tokens?: number;
  stream?: boolean;
  store?: boolean;
  temperature?: number;
  tool_choice?: "auto" | "none" | "required" | { type: "function"; name: string };
  parallel_tool_calls?: boolean;
  prompt_cache_key?: string;
}

type InputPart =
  | { type: "input_text"; text: string }
  | { type: "input_image"; detail: "auto"; image_url?: string; file_id?: string }
  | {
      type: "input_file";
      filename?: string;
      file_data?: string;
      file_id?: string;
      file_url?: string;
    };

export type Item =
  | {
      readonly kind: "message";
      readonly text: string;
      readonly isRefusal: boolean;
      /** Whether our own spelling keeps everything in the item. */
      readonly isPlain: boolean;
    }
  | {
      readonly kind: "call";
      readonly callId: string;
      readonly name: string;
      readonly argumentsText: string;
      readonly isPlain: boolean;
    }
  /** The model's thinking, sealed by the provider. */
  | { readonly kind: "reasoning"; readonly summary: string; readonly sealed: string }
  /** A user message that the provider returns as part of a compaction. */
  | { readonly kind: "user message"; readonly text: string }
  /** The rest of the conversation, sealed by the provider. */
  | { readonly kind: "compaction"; readonly sealed: string }
  | { readonly kind: "other"; readonly type: string };

/** Null if it is not an item of this API, such as a block of another provider. */
export function readItem(json: JsonText): Item | null {
  const item = fields.parseFields(json);
  return item === undefined ? null : readItemFields(item);
}

export function readItemFields(item: fields.Fields): Item | null {
  const type = fields.textIn(item, "type") ?? "";
  switch (type) {
    case "message":
      return fields.textIn(item, "role") === "assistant" ? readMessage(item) : otherMessage(item);
    case "function_call":
      return readCall(item);
    case "reasoning":
      return {
        kind: "reasoning",
        summary: textsOf(fields.listIn(item, "summary"), "text"),
        sealed: fields.textIn(item, "encrypted_content") ?? "",
      };
    case "compaction": {
      // Another provider has blocks of this name with readable text.
      const sealed = fields.textIn(item, "encrypted_content");
      return sealed === undefined || Object.hasOwn(item, "content") ? null : { kind: type, sealed };
    }
    default:
      return isItemType(type) ? { kind: "other", type } : null;
  }
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

/** Whether this API has an item type of this name, or a tool call or result type like it. */
function isItemType(type: string): boolean {
  return itemTypes.has(type) || /_(?:call|output)$/.test(type);
}

function readMessage(item: fields.Fields): Item {
  const parts = fields.listIn(item, "content").map(fields.fieldsOf);
  const [first] = parts;
  const isRefusal = parts.some((part) => fields.textIn(part, "type") === "refusal");
  return {
    kind: "message",
    text: parts
      .map((part) => fields.textIn(part, "text") ?? fields.textIn(part, "refusal") ?? "")
      .join(""),
    isRefusal,
    isPlain:
      first !== undefined &&
      parts.length === 1 &&
      isPlainText(first) &&
      fields.hasOnly(item, ["id", "type", "status", "role", "content"]),
  };
}

function isPlainText(part: fields.Fields): boolean {
  return (
    fields.textIn(part, "type") === "output_text" &&
    fields.listIn(part, "annotations").length === 0 &&
    fields.hasOnly(part, ["type", "text", "annotations", "logprobs"])
  );
}

function otherMessage(item: fields.Fields): Item | null {
  const role = fields.textIn(item, "role");
  if (role === undefined) return null;
  if (role !== "user") return { kind: "other", type: "message" };
  return { kind: "user message", text: textsOf(fields.listIn(item, "content"), "text") };
}

function readCall(item: fields.Fields): Item {
  const [callId, name] = [fields.textIn(item, "call_id"), fields.textIn(item, "name")];
  if (callId === undefined || name === undefined) return { kind: "other", type: "function_call" };
  return {
    kind: "call",
    callId,
    name,
    argumentsText: fields.textIn(item, "arguments") ?? "",
    isPlain: fields.hasOnly(item, ["id", "type", "status", "call_id", "name", "arguments"]),
  };
}

function textsOf(parts: readonly unknown[], name: string): string {
  return parts.map((part) => fields.textIn(fields.fieldsOf(part), name) ?? "").join("\n");
}
