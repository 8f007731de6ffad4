// The provider's JSON: the names both directions use, and how a value of any shape is read.
import type { BlockKind } from "../../assembly/prompt-block.ts";
import type { JsonText } from "../../message/message.ts";
import type { Lifetime } from "../../message/usage.ts";
import { assert } from "../../assert.ts";

export const messagesPath = "/v1/messages";

export const versionHeader = "2023-06-01";

/** Required by every request with a system message that has `clear_at`. */
export const clearAtBeta = "mid-conversation-system-clear-at-2026-08-21";

/** Required by every request that asks for a summary or contains a signed one. */
export const compactionBeta = "compact-2026-09-04";

/** System messages that add or remove a tool need these: the second where one brings its definition. */
export const toolChangesBeta = "mid-conversation-tool-changes-2026-07-01";
export const inlineToolsBeta = "inline-tools-2026-09-15";

/** A request. Blocks that came from a provider are kept verbatim and may be of further types. */
export interface MessagesRequest {
  model: string;
  max_tokens: number;
  stream?: boolean;
  tools?: (Marked & { name: string; description: string; input_schema: ObjectSchema })[];
  system?: TextParam[];
  messages: (
    | { role: "user" | "assistant"; content: BlockParam[] }
    | { role: "system"; content: TextParam[] }
  )[];
  cache_control?: MarkerParam;
  thinking?: { type: "adaptive" | "disabled" } | { type: "enabled"; budget_tokens: number };
  output_config?: {
    effort?: "low" | "medium" | "high" | "xhigh" | "max";
    format?: { type: "json_schema"; schema: Record<string, unknown> };
  };
  stop_sequences?: string[];
  tool_choice?:
    | { type: "auto" | "any"; disable_parallel_tool_use?: boolean }
    | { type: "tool"; name: string; disable_parallel_tool_use?: boolean }
    | { type: "none" };
}

interface MarkerParam {
  type: "ephemeral";
  ttl?: "5m" | "1h";
}

interface Marked {
  cache_control?: MarkerParam;
}

interface ObjectSchema extends Record<string, unknown> {
  type: "object";
}

interface TextParam extends Marked {
  type: "text";
  text: string;
}

type SourceParam = { type: "url"; url: string } | { type: "file"; file_id: string };

interface ImageParam extends Marked {
  type: "image";
  source:
    | SourceParam
    | {
        type: "base64";
        media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp";
        data: string;
      };
}

interface DocumentParam extends Marked {
  type: "document";
  title?: string;
  source:
    | SourceParam
    | { type: "base64"; media_type: "application/pdf"; data: string }
    | { type: "text"; media_type: "text/plain"; data: string };
}

type BlockParam =
  | TextParam
  | ImageParam
  | DocumentParam
  | (Marked & { type: "tool_use"; id: string; name: string; input: unknown })
  | (Marked & {
      type: "tool_result";
      tool_use_id: string;
      content: (TextParam | ImageParam | DocumentParam)[];
      is_error?: boolean;
    })
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string };

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

/** A marker as the value of `cache_control`. Five minutes is the provider's default. */
export function markerJson(lifetime: Lifetime): JsonText {
  assert(lifetime === "5m" || lifetime === "1h", `no marker lives for ${lifetime} here`);
  return lifetime === "5m" ? '{"type":"ephemeral"}' : '{"type":"ephemeral","ttl":"1h"}';
}

/** The text, or an empty one for anything else. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
