// Which API a body was written for, by what only that API has.
import type { ProtocolName } from "../protocol.ts";
import { listOf, memberOf, textOf, type JsonNode } from "../../message/json-tree.ts";

/** Null where it is none we know. A body that would do for two APIs is taken by its model's name. */
export function recogniseProtocol(root: JsonNode): ProtocolName | null {
  if (root.kind !== "object") return null;
  const has = (key: string): boolean => memberOf(root, key) !== undefined;
  if (memberOf(root, "messages")?.kind !== "list") {
    return responsesMembers.some(has) ? "openai-responses" : null;
  }
  const messages = listOf(root, "messages");
  const isMessages =
    messagesMembers.some(has) ||
    listOf(root, "tools").some((tool) => memberOf(tool, "input_schema") !== undefined) ||
    messages.some(hasMessagesContent);
  const isChat =
    chatMembers.some(has) ||
    listOf(root, "tools").some((tool) => memberOf(tool, "function") !== undefined) ||
    messages.some((message, index) => isChatMessage(message, index));
  if (isMessages !== isChat) return isMessages ? "anthropic-messages" : "openai-chat";
  return (textOf(root, "model") ?? "").toLowerCase().includes("claude")
    ? "anthropic-messages"
    : "openai-chat";
}

const responsesMembers = ["input", "instructions", "previous_response_id", "conversation"];

const messagesMembers = [
  "system",
  "thinking",
  "anthropic_version",
  "stop_sequences",
  "top_k",
  "cache_control",
  "output_config",
  "context_management",
  "mcp_servers",
  "thread",
];

const chatMembers = [
  "max_completion_tokens",
  "stream_options",
  "response_format",
  "reasoning_effort",
  "prompt_cache_key",
  "prompt_cache_options",
  "parallel_tool_calls",
  "frequency_penalty",
  "presence_penalty",
  "logprobs",
  "stop",
  "n",
  "seed",
];

const messagesTypes: ReadonlySet<string> = new Set([
  "tool_use",
  "tool_result",
  "thinking",
  "redacted_thinking",
  "document",
  "image",
]);

function hasMessagesContent(message: JsonNode): boolean {
  return listOf(message, "content").some((part) => messagesTypes.has(textOf(part, "type") ?? ""));
}

/** The Messages API takes no system message at the beginning. */
function isChatMessage(message: JsonNode, index: number): boolean {
  const role = textOf(message, "role");
  if (role === "developer" || role === "tool" || role === "function") return true;
  return (role === "system" && index === 0) || memberOf(message, "tool_calls") !== undefined;
}
