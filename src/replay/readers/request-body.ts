// A request body of any wire → its blocks in the order a provider reads them.
import { isObject } from "../../core/message/fields.ts";
import { lifetimes, type Lifetime } from "../../core/message/usage.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import type { ProtocolName } from "../../core/wire/protocol.ts";
import { fieldsIn, fieldsOf, listIn, textIn, type Fields } from "../../core/message/fields.ts";
import type { BlockDraft, Drafting } from "./block-draft.ts";
import { draftChatMessage, isSystemMessage } from "./chat-messages.ts";
import { draftMessage, draftSystem, draftTools, markerOf } from "./message-blocks.ts";
import { draftFunctions } from "./openai-parts.ts";
import { messagesSettings, openAiSettings, type Settings } from "./request-settings.ts";
import { draftInstructions, draftItem } from "./responses-items.ts";

export interface DraftedBody {
  readonly wire: ProtocolName;
  readonly blocks: readonly BlockDraft[];
  /** How many of the blocks stand before the messages. */
  readonly headLength: number;
  readonly settings: Settings;
}

/** Whether a value is what a client sends to a model. */
export function isRequestBody(value: unknown): value is Fields {
  if (!isObject(value) || typeof value["model"] !== "string") return false;
  const { messages, input } = value;
  return Array.isArray(messages) || Array.isArray(input) || typeof input === "string";
}

export function draftBody(body: Fields, url: string | null, drafting: Drafting): DraftedBody {
  const wire = wireOf(body, url);
  switch (wire) {
    case "anthropic-messages":
      return draftMessagesBody(body, drafting);
    case "openai-chat":
      return draftChatBody(body, drafting);
    case "openai-responses":
      return draftResponsesBody(body, drafting);
  }
}

function draftMessagesBody(body: Fields, drafting: Drafting): DraftedBody {
  const head = [...draftTools(body["tools"], drafting), ...draftSystem(body["system"], drafting)];
  const messages = listIn(body, "messages").flatMap((message) =>
    draftMessage(fieldsOf(message), drafting),
  );
  const blocks = markRequest([...head, ...messages], markerOf({ ...body, type: "request" }));
  const settings = messagesSettings(body);
  return { wire: "anthropic-messages", blocks, headLength: head.length, settings };
}

/** One marker for the whole request lands on its last block that can carry one. */
function markRequest(blocks: readonly BlockDraft[], marker: Lifetime | null): BlockDraft[] {
  const last = blocks.findLastIndex(({ mayCarryMarker }) => mayCarryMarker);
  return blocks.map((draft, index) =>
    marker === null || index !== last ? draft : { ...draft, marker: draft.marker ?? marker },
  );
}

function draftChatBody(body: Fields, drafting: Drafting): DraftedBody {
  const lifetime = lifetimeOf(body);
  const messages = listIn(body, "messages").map(fieldsOf);
  const systemEnd = messages.findIndex((message) => !isSystemMessage(message));
  const systemMessages = systemEnd === -1 ? messages : messages.slice(0, systemEnd);
  const head = [
    ...draftFunctions(body["tools"] ?? body["functions"], drafting),
    ...systemMessages.flatMap((message) =>
      draftChatMessage(message, { tier: "T1", lifetime }, drafting),
    ),
  ];
  const rest = messages
    .slice(systemMessages.length)
    .flatMap((message) => draftChatMessage(message, { tier: "T3", lifetime }, drafting));
  const settings = openAiSettings(body);
  return { wire: "openai-chat", blocks: [...head, ...rest], headLength: head.length, settings };
}

function draftResponsesBody(body: Fields, drafting: Drafting): DraftedBody {
  const lifetime = lifetimeOf(body);
  const { input } = body;
  const items =
    typeof input === "string"
      ? [{ role: "user", content: input }]
      : listIn(body, "input").map(fieldsOf);
  const headEnd = items.findIndex((item) => !isHeadItem(item));
  const headItems = headEnd === -1 ? items : items.slice(0, headEnd);
  const head = [
    ...draftFunctions(body["tools"], drafting),
    ...draftInstructions(body["instructions"], drafting),
    ...headItems.flatMap((item) => draftItem(item, { tier: "T1", lifetime }, drafting)),
  ];
  const rest = items
    .slice(headItems.length)
    .flatMap((item) => draftItem(item, { tier: "T3", lifetime }, drafting));
  const settings = openAiSettings(body);
  return {
    wire: "openai-responses",
    blocks: [...head, ...rest],
    headLength: head.length,
    settings,
  };
}

function isHeadItem(item: Fields): boolean {
  return isSystemMessage(item) || item["type"] === "additional_tools";
}

function lifetimeOf(body: Fields): Lifetime {
  const asked = fieldsIn(body, "prompt_cache_options")["ttl"];
  return lifetimes.find((name) => name === asked) ?? "30m";
}

/** By where it was sent, else by what only one of the wires has, else by who makes the model. */
function wireOf(body: Fields, url: string | null): ProtocolName {
  if (!Array.isArray(body["messages"])) return "openai-responses";
  if (url !== null && /\/chat\/completions\b/.test(url)) return "openai-chat";
  if (url !== null && /\/messages\b/.test(url)) return "anthropic-messages";
  if (hasChatSigns(body)) return "openai-chat";
  if (hasMessagesSigns(body)) return "anthropic-messages";
  const provider = findModel(textIn(body, "model") ?? "")?.facts.provider;
  return provider === "anthropic" ? "anthropic-messages" : "openai-chat";
}

function hasChatSigns(body: Fields): boolean {
  const messages = listIn(body, "messages").map(fieldsOf);
  const [first] = messages;
  return (
    (first !== undefined && isSystemMessage(first)) ||
    messages.some((message) => message["role"] === "tool" || "tool_calls" in message) ||
    listIn(body, "tools").some((tool) => "function" in fieldsOf(tool)) ||
    ["max_completion_tokens", "stream_options", "response_format"].some((name) => name in body)
  );
}

function hasMessagesSigns(body: Fields): boolean {
  const signs = ["system", "thinking", "anthropic_version", "stop_sequences", "cache_control"];
  return (
    signs.some((name) => name in body) ||
    listIn(body, "tools").some((tool) => "input_schema" in fieldsOf(tool))
  );
}
