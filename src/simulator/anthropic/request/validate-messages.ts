// Validates the conversation: roles, contents, and tool uses with their results.
import { textOr, fields } from "./read-fields.ts";
import type { ReadBlock } from "./read-blocks.ts";
import type { MessagesRequest, ReadMessage } from "./read-request.ts";
import { invalid, invented, notSimulated } from "../refusal.ts";
import { readTool } from "./read-tools.ts";

export function validateMessages(request: MessagesRequest): void {
  const { messages, system } = request;
  const first = messages[0];
  if (first === undefined) throw invalid("messages: at least one message is required");
  if (system.some(({ type }) => type !== "text"))
    throw invalid("system: Input should be a valid text block");
  if (system.some(({ json }) => textOr(json, "text", "") === ""))
    throw invalid("system: text content blocks must be non-empty");
  const startsCompacted = first.blocks[0]?.type === "compaction";
  if (first.role === "assistant" && !startsCompacted)
    throw invalid('messages: first message must use the "user" role');
  for (const message of messages) validateContent(message, message.index === messages.length - 1);
  validateSystemMessages(request);
  if (request.version === "2026-10-21") validateNewVersion(messages);
  validateToolPairs(messages);
}

function validateContent(
  { index, role, blocks, outputConfig }: ReadMessage,
  isLast: boolean,
): void {
  const mayBeEmpty =
    (role === "assistant" && isLast) || (role === "system" && outputConfig !== null);
  if (blocks.length === 0 && !mayBeEmpty)
    throw invalid(
      `messages.${index}: all messages must have non-empty content except for the optional final assistant message`,
    );
  for (const { type, json } of blocks) {
    if (type !== "text") continue;
    const text = textOr(json, "text", "");
    if (text === "") throw invalid("messages: text content blocks must be non-empty");
    if (text.trim() === "")
      throw invalid("messages: text content blocks must contain non-whitespace text");
  }
  const ending = blocks.at(-1);
  if (
    isLast &&
    role === "assistant" &&
    ending?.type === "text" &&
    /\s$/.test(textOr(ending.json, "text", ""))
  )
    throw invalid("messages: final assistant content cannot end with trailing whitespace");
}

function validateNewVersion(messages: readonly ReadMessage[]): void {
  for (const { role, blocks } of messages) {
    for (const { type, json, path } of blocks) {
      if (role === "assistant" && type === "document")
        throw invented(`${path}: document blocks are not permitted in assistant turns`);
      const citations = json.fields.get("citations");
      const isCited = citations?.kind === "list" && citations.items.length > 0;
      if (role === "user" && type === "text" && isCited)
        throw invented(`${path}.text.citations: citations are not permitted on user text blocks`);
    }
  }
}

interface Turn {
  readonly role: "user" | "assistant";
  readonly blocks: { readonly message: number; readonly block: ReadBlock }[];
}

/** Consecutive messages of one role are one turn; system messages belong to none. */
function toTurns(messages: readonly ReadMessage[]): readonly Turn[] {
  const turns: Turn[] = [];
  for (const { role, index, blocks } of messages) {
    if (role === "system") continue;
    const last = turns.at(-1);
    const turn = last?.role === role ? last : { role, blocks: [] };
    if (turn !== last) turns.push(turn);
    for (const block of blocks) turn.blocks.push({ message: index, block });
  }
  return turns;
}

function validateToolPairs(messages: readonly ReadMessage[]): void {
  const seen = new Set<string>();
  const turns = toTurns(messages);
  for (const [place, turn] of turns.entries()) {
    if (turn.role === "assistant") validateToolUses(turn, turns[place + 1], seen);
    else validateToolResults(turn, turns[place - 1]);
  }
}

function validateToolUses(turn: Turn, next: Turn | undefined, seen: Set<string>): void {
  const answered = new Set<string>();
  for (const { block } of next?.blocks ?? []) {
    if (block.type !== "tool_result") break;
    answered.add(textOr(block.json, "tool_use_id", ""));
  }
  const unanswered = new Map<number, string[]>();
  for (const { message, block } of turn.blocks) {
    if (block.type !== "tool_use") continue;
    const id = textOr(block.json, "id", "");
    if (seen.has(id)) throw invalid("messages: `tool_use` ids must be unique");
    seen.add(id);
    if (answered.has(id)) continue;
    const ids = unanswered.get(message) ?? [];
    ids.push(id);
    unanswered.set(message, ids);
  }
  for (const [message, ids] of unanswered)
    throw invalid(
      `messages.${message}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
    );
}

function validateToolResults(turn: Turn, before: Turn | undefined): void {
  const uses = new Set(
    before?.blocks.flatMap(({ block }) =>
      block.type === "tool_use" ? [textOr(block.json, "id", "")] : [],
    ),
  );
  const answered = new Set<string>();
  for (const { block } of turn.blocks) {
    if (block.type !== "tool_result") continue;
    const id = textOr(block.json, "tool_use_id", "");
    if (!uses.has(id))
      throw invalid(
        `${block.path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    if (answered.has(id))
      throw invalid(
        `${block.path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
      );
    answered.add(id);
  }
}

function validateSystemMessages(request: MessagesRequest): void {
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
