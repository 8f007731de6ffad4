// Messages as OpenTelemetry, the AI SDK and LangChain spell them, in the form of the Messages API.
import {
  fieldsIn,
  fieldsOf,
  isObject,
  listOf,
  parseFields,
  textIn,
  type Fields,
} from "../../../core/message/fields.ts";
import type { BlockDraft, Drafting } from "../block-draft.ts";
import { draftMessage, draftSystem, draftTools } from "./messages-form.ts";
import { joinMessages } from "../thread-history.ts";

export interface OtherPrompt {
  readonly messages: readonly unknown[];
  readonly system?: unknown;
  readonly tools?: readonly unknown[];
}

/** Tools, then all that the system says before the conversation, then the messages. */
export function draftOther(
  { messages, system, tools }: OtherPrompt,
  drafting: Drafting,
): BlockDraft[] {
  const all = messages.map(toMessage);
  const first = all.findIndex(({ role }) => role !== "system");
  const headLength = first === -1 ? all.length : first;
  const head = [
    ...(system === undefined ? [] : toContent(system)),
    ...all.slice(0, headLength).flatMap(({ content }) => content),
  ];
  return [
    ...(tools === undefined ? [] : draftTools(tools.map(toTool), drafting)),
    ...(head.length === 0 ? [] : draftSystem(head, drafting)),
    ...joinMessages(
      all.slice(headLength).flatMap((message) => draftMessage({ ...message }, drafting)),
    ),
  ];
}

interface OtherMessage {
  readonly role: "system" | "assistant" | "user";
  readonly content: readonly Fields[];
}

const roles: Readonly<Record<string, OtherMessage["role"]>> = {
  system: "system",
  developer: "system",
  assistant: "assistant",
  model: "assistant",
  ai: "assistant",
};

function toMessage(value: unknown): OtherMessage {
  const { name, message } = unwrap(fieldsOf(value));
  const role = roles[name] ?? "user";
  const content = toContent(message["parts"] ?? message["content"]);
  const hasCalls = content.some(({ type }) => type === "tool_use");
  const calls = hasCalls
    ? []
    : listOf(message["tool_calls"]).map((call) => toToolUse(fieldsOf(call)));
  const callId = textIn(message, "tool_call_id");
  if (name === "tool" && callId !== undefined) {
    return { role, content: [{ type: "tool_result", tool_use_id: callId, content }] };
  }
  return { role, content: [...content, ...calls] };
}

/** LangChain names a class or a type instead of a role, and puts what is said one level down. */
function unwrap(value: Fields): { readonly name: string; readonly message: Fields } {
  const className = listOf(value["id"]).at(-1);
  const inner = [value["kwargs"], value["data"]].find(isObject);
  const message = inner ?? value;
  const fromClass =
    typeof className === "string" ? /^(.*?)Message/.exec(className)?.[1]?.toLowerCase() : undefined;
  const name = textIn(message, "role") ?? fromClass ?? textIn(value, "type") ?? "";
  return { name, message };
}

function toContent(value: unknown): readonly Fields[] {
  if (typeof value === "string") return value === "" ? [] : [{ type: "text", text: value }];
  if (isObject(value)) return [toPart(value)];
  return listOf(value).map((part) =>
    typeof part === "string" ? { type: "text", text: part } : toPart(fieldsOf(part)),
  );
}

function toPart(part: Fields): Fields {
  switch (part["type"]) {
    case "text":
    case "input_text":
    case "output_text":
      return { type: "text", text: part["text"] ?? part["content"] };
    case "reasoning":
      return { type: "thinking", thinking: part["text"] ?? part["content"] ?? part["reasoning"] };
    case "tool_call":
    case "tool-call":
      return toToolUse(part);
    case "tool_call_response":
    case "tool-result":
      return {
        type: "tool_result",
        tool_use_id: part["toolCallId"] ?? part["id"],
        content: toResult(part["output"] ?? part["response"] ?? part["result"]),
      };
    default:
      return part;
  }
}

function toToolUse(call: Fields): Fields {
  const made = fieldsIn(call, "function");
  const input = call["input"] ?? call["arguments"] ?? call["args"] ?? made["arguments"];
  return {
    type: "tool_use",
    id: call["toolCallId"] ?? call["id"],
    name: call["toolName"] ?? call["name"] ?? made["name"],
    input: typeof input === "string" ? (parseFields(input) ?? input) : input,
  };
}

/** Text, content of a result, or any other value as JSON. */
function toResult(value: unknown): unknown {
  if (typeof value === "string") return value;
  const { type, value: inner } = fieldsOf(value);
  if (typeof type === "string" && typeof inner === "string") return inner;
  return JSON.stringify(inner ?? value ?? null);
}

function toTool(value: unknown): Fields {
  const tool = typeof value === "string" ? (parseFields(value) ?? {}) : fieldsOf(value);
  const made = isObject(tool["function"]) ? tool["function"] : tool;
  const { name, description } = made;
  const schema = made["input_schema"] ?? made["inputSchema"] ?? made["parameters"];
  return { name, description, input_schema: schema };
}
