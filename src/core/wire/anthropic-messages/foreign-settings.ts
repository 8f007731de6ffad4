// The settings of the Messages API, besides blocks, that decide whether a prefix is found.
import type { RequestSettings } from "../foreign/foreign-request.ts";
import * as json from "../../message/json-tree.ts";

export interface MessagesSettings {
  readonly settings: RequestSettings;
  readonly keepsThinking: boolean;
  /** Whether the body continues a thread that the provider keeps. */
  readonly thread: boolean;
}

/** `seen`: what stands in the messages, if they were read already. */
export function readMessagesSettings(
  root: json.JsonObject,
  thinksByDefault: boolean,
  seen: SeenContent = json.listOf(root, "messages").reduce(withMessage, nothingSeen),
): MessagesSettings {
  const output = json.memberOf(root, "output_config");
  const choice = json.memberOf(root, "tool_choice");
  const toolChoice = choiceOf(choice);
  const thinking = thinkingOf(json.memberOf(root, "thinking"), thinksByDefault);
  const effort = json.textOf(output, "effort") ?? "high";
  const speed = json.textOf(root, "speed") ?? "standard";
  const format = json.memberOf(output, "format") ?? json.memberOf(root, "output_format");
  const editing = json.memberOf(root, "context_management");
  const settings: RequestSettings = {
    ...(toolChoice === "auto" ? {} : { "tool choice": toolChoice }),
    ...(json.isScalar(choice, "disable_parallel_tool_use", "true")
      ? { "parallel tool use": "off" }
      : {}),
    ...(thinking === null ? {} : { thinking }),
    // High is the provider's default.
    ...(effort === "high" ? {} : { effort }),
    ...(speed === "standard" ? {} : { speed }),
    ...(format === undefined ? {} : { "output format": json.compactJson(format) }),
    ...(editing === undefined ? {} : { "context editing": json.compactJson(editing) }),
    ...(json.listOf(root, "tools").some(isWeb) ? { "web search or fetch": "on" } : {}),
    ...(seen.citations ? { citations: "on" } : {}),
    ...(seen.images ? { "images appear or vanish": "images" } : {}),
  };
  return {
    settings,
    keepsThinking: json.listOf(editing, "edits").some(keepsAll),
    thread: json.textOf(json.memberOf(root, "thread"), "type") === "continue",
  };
}

function isWeb(tool: json.JsonNode): boolean {
  return /^web_(?:search|fetch)_/.test(json.textOf(tool, "type") ?? "");
}

function choiceOf(choice: json.JsonNode | undefined): string {
  const type = json.textOf(choice, "type") ?? "auto";
  return type === "tool" ? `tool ${json.textOf(choice, "name") ?? ""}` : type;
}

/** Null for the model's default. */
function thinkingOf(thinking: json.JsonNode | undefined, thinksByDefault: boolean): string | null {
  const type = json.textOf(thinking, "type");
  switch (type) {
    case undefined:
      return null;
    case "disabled":
      return thinksByDefault ? "off" : null;
    case "adaptive":
      return thinksByDefault ? null : "adaptive";
    case "enabled": {
      const budget = json.memberOf(thinking, "budget_tokens");
      return `${budget === undefined ? "some" : json.compactJson(budget)} tokens`;
    }
    case "between_tools":
      return "between tools";
    default:
      return type;
  }
}

function keepsAll(edit: json.JsonNode): boolean {
  if (!(json.textOf(edit, "type") ?? "").startsWith("clear_thinking")) return false;
  return (
    json.textOf(edit, "keep") === "all" ||
    json.textOf(json.memberOf(edit, "keep"), "type") === "all"
  );
}

/** Content whose presence decides whether a prefix is found. */
export interface SeenContent {
  readonly images: boolean;
  readonly citations: boolean;
}

export const nothingSeen: SeenContent = { images: false, citations: false };

function withMessage(seen: SeenContent, message: json.JsonNode): SeenContent {
  return lookInside(message, seen);
}

/** One more message. Blocks stand in it, in results of tools, and in documents. */
export function lookInside(message: json.JsonNode, before: SeenContent): SeenContent {
  let { images, citations } = before;
  const rest = [message];
  for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
    images ||= json.textOf(node, "type") === "image";
    citations ||= json.isScalar(json.memberOf(node, "citations"), "enabled", "true");
    for (const inner of json.listOf(node, "content")) rest.push(inner);
    for (const inner of json.listOf(json.memberOf(node, "source"), "content")) rest.push(inner);
  }
  return images === before.images && citations === before.citations
    ? before
    : { images, citations };
}
