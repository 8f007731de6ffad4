// What besides blocks can invalidate a prefix, by our names. What a provider does anyway reads as absent.
import type { RequestChange } from "../../core/models/invalidation.ts";
import { canonicalJsonOf } from "../../core/message/json-text.ts";
import { isObject } from "../../core/message/fields.ts";
import { fieldsIn, fieldsOf, listIn, textIn, type Fields } from "../../core/message/fields.ts";

export type Settings = Readonly<Partial<Record<RequestChange, string>>>;

/** Of a request in the Messages API's form. */
export function messagesSettings(body: Fields): Settings {
  const choice = fieldsIn(body, "tool_choice");
  const output = fieldsIn(body, "output_config");
  const hasWebTool = listIn(body, "tools").some((tool) =>
    /^web_(?:search|fetch)_\d+$/.test(textIn(fieldsOf(tool), "type") ?? ""),
  );
  return sent({
    "tool choice": choiceOf(textIn(choice, "type"), textIn(choice, "name")),
    "parallel tool use": choice["disable_parallel_tool_use"] === true ? "off" : undefined,
    thinking: thinkingOf(fieldsIn(body, "thinking")),
    effort: besides(textIn(output, "effort"), "high"),
    speed: besides(textIn(body, "speed"), "standard"),
    "output format": jsonOf(output["format"] ?? body["output_format"]),
    "context editing": jsonOf(body["context_management"]),
    "web search or fetch": hasWebTool ? "on" : undefined,
  });
}

/** Of a request in either OpenAI form: Responses nests what Chat Completions has at the top. */
export function openAiSettings(body: Fields): Settings {
  const text = fieldsIn(body, "text");
  const choice = body["tool_choice"];
  const named = fieldsOf(choice);
  const tier = textIn(body, "service_tier");
  return sent({
    "tool choice": choiceOf(
      typeof choice === "string" ? choice : textIn(named, "type"),
      textIn(named, "name") ?? textIn(fieldsIn(named, "function"), "name"),
    ),
    "parallel tool use": body["parallel_tool_calls"] === false ? "off" : undefined,
    effort: textIn(fieldsIn(body, "reasoning"), "effort") ?? textIn(body, "reasoning_effort"),
    verbosity: besides(textIn(text, "verbosity") ?? textIn(body, "verbosity"), "medium"),
    "output format": formatOf(text["format"] ?? body["response_format"]),
    "cache key": textIn(body, "prompt_cache_key"),
    "service tier": besides(besides(tier, "auto"), "default"),
  });
}

function sent(
  settings: Readonly<Partial<Record<RequestChange, string | undefined>>>,
): Record<string, string> {
  const known: Record<string, string> = {};
  for (const [name, value] of Object.entries(settings)) {
    if (value !== undefined) known[name] = value;
  }
  return known;
}

function choiceOf(type: string | undefined, name: string | undefined): string | undefined {
  return name === undefined ? besides(type, "auto") : `tool ${name}`;
}

function thinkingOf(thinking: Fields): string | undefined {
  const type = textIn(thinking, "type");
  if (type === "enabled") return `${String(thinking["budget_tokens"])} tokens`;
  return type === "between_tools" ? "between tools" : besides(type, "disabled");
}

function formatOf(format: unknown): string | undefined {
  return fieldsOf(format)["type"] === "text" ? undefined : jsonOf(format);
}

function jsonOf(value: unknown): string | undefined {
  return isObject(value) ? canonicalJsonOf(value) : undefined;
}

function besides(value: string | undefined, usual: string): string | undefined {
  return value === usual ? undefined : value;
}
