// Validates system messages among the messages: model support, placement, content.
import type { ReadBlock } from "./read-blocks.ts";
import { fields } from "./read-fields.ts";
import type { MessagesRequest, ReadMessage } from "./read-request.ts";
import { readTool } from "./read-tools.ts";
import { invalid, invented, notSimulated } from "../refusal.ts";

export function validateSystemMessages(request: MessagesRequest): void {
  const { messages, tools } = request;
  const toolNames = new Set(tools.map(({ name }) => name));
  for (const message of messages) {
    if (message.role === "system") validateSystemMessage(message, request, toolNames);
    else refuseToolChanges(message);
  }
  validatePlacements(messages);
}

function validateSystemMessage(
  { index, blocks, outputConfig, clearsAtNextUser }: ReadMessage,
  request: MessagesRequest,
  toolNames: Set<string>,
): void {
  const { capabilities } = request.facts;
  if (!capabilities.midConversationSystem)
    throw invalid("role 'system' is not supported on this model");
  const path = `messages.${index}`;
  if (outputConfig !== null && !capabilities.midConversationEffort)
    throw invented(`${path}.output_config: not supported on this model`);
  for (const block of blocks) validateSystemBlock(block, request, toolNames);
  if (clearsAtNextUser && blocks.some(({ marks }) => marks.length > 0))
    throw invented(
      `${path}: cache_control cannot be set on a system message with clear_at "next_user_message"`,
    );
}

function validateSystemBlock(
  { type, path, json }: ReadBlock,
  { betas }: MessagesRequest,
  toolNames: Set<string>,
): void {
  if (type === "text") return;
  if (!isToolChange(type))
    throw invented(`${path}: a system message takes text and tool changes, not ${type}`);
  if (!betas.has("mid-conversation-tool-changes-2026-07-01"))
    throw invented(
      `${path}: ${type} requires anthropic-beta: mid-conversation-tool-changes-2026-07-01`,
    );
  const tool = fields.placeAt({ object: json, path }, "tool");
  const { path: at } = tool;
  const form = fields.textAt(tool, "type");
  if (form === "tool_definition" && type === "tool_addition") {
    if (!betas.has(inlineToolsBeta))
      throw invented(`${at}: tool_definition requires anthropic-beta: ${inlineToolsBeta}`);
    const { name, mark } = readTool(fields.placeAt(tool, "definition"));
    if (mark !== null) throw invented(`${mark.path}: cache_control belongs on the tool_addition`);
    toolNames.add(name);
    return;
  }
  if (form !== "tool_reference") throw notSimulated(`${at}.${form}`);
  const name = fields.textAt(tool, "name");
  if (!toolNames.has(name)) throw invented(`${at}: Tool '${name}' not found in provided tools`);
}

const inlineToolsBeta = "inline-tools-2026-09-15";

function isToolChange(type: string): boolean {
  return type === "tool_addition" || type === "tool_removal";
}

function refuseToolChanges({ blocks }: ReadMessage): void {
  const change = blocks.find(({ type }) => isToolChange(type));
  if (change !== undefined)
    throw invented(`${change.path}: ${change.type} belongs in a system message`);
}

/** System messages with content must be between a user turn and an assistant turn, or last. */
function validatePlacements(messages: readonly ReadMessage[]): void {
  let before: ReadMessage | null = null;
  let waiting: ReadMessage | null = null;
  for (const message of messages) {
    const path = `messages.${message.index}`;
    if (message.role !== "system") {
      if (waiting !== null && message.role !== "assistant")
        throw invented(
          `messages.${waiting.index}: a system message must be last or be followed by an assistant turn`,
        );
      before = message;
      waiting = null;
      continue;
    }
    if (message.blocks.length === 0) continue;
    if (before === null) throw invented(`${path}: a system message may not come first`);
    const endsInServerTool = /._tool_result$/.test(before.blocks.at(-1)?.type ?? "");
    if (before.role === "assistant" && !endsInServerTool)
      throw invented(`${path}: a system message must follow a user turn or a server tool result`);
    waiting ??= message;
  }
}
