// A body of the Chat Completions API.
import type { PromptRole } from "../../../assembly/prompt-block.ts";
import { endMessage, type BlockDraft, type ReadShape } from "../../foreign/foreign-request.ts";
import {
  compactJson,
  listOf,
  memberOf,
  textOf,
  type JsonNode,
  type JsonObject,
} from "../../../message/json-tree.ts";
import { ownLifetimeOf, readOpenAiOptions } from "../foreign-options.ts";
import { readParts, readTools, type PartsPlace } from "../foreign-parts.ts";

export function readChatShape(root: JsonObject): ReadShape {
  const messages = listOf(root, "messages");
  const firstOther = messages.findIndex((message) => roleOf(message) !== "system");
  const leading = firstOther === -1 ? messages.length : firstOther;
  const lifetime = ownLifetimeOf(root) ?? "30m";
  return {
    drafts: [
      ...readTools(listOf(root, "tools"), "tools"),
      ...readTools(listOf(root, "functions"), "functions"),
      ...messages.flatMap((message, index) =>
        readMessage(message, index, { isLeading: index < leading, lifetime }),
      ),
    ],
    ...readOpenAiOptions(root, "chat"),
  };
}

function roleOf(message: JsonNode): PromptRole {
  const role = textOf(message, "role");
  if (role === "system" || role === "developer") return "system";
  return role === "assistant" ? "assistant" : "user";
}

function readMessage(
  message: JsonNode,
  index: number,
  { isLeading, lifetime }: { readonly isLeading: boolean } & Pick<PartsPlace, "lifetime">,
): readonly BlockDraft[] {
  const named = textOf(message, "role") ?? "user";
  const isResult = named === "tool" || named === "function";
  const role = roleOf(message);
  const calls = listOf(message, "tool_calls");
  const content = memberOf(message, "content") ?? memberOf(message, "refusal");
  const isEmpty = content?.kind === "string" && content.text === "" && calls.length > 0;
  const shown = isEmpty ? undefined : (content ?? (isResult ? nothing : undefined));
  const parts = readParts(shown, {
    path: `messages.${index}.content`,
    section: isResult ? `tool result in message ${index}` : `${named} message ${index}`,
    tier: isLeading ? "T1" : "T3",
    role,
    head: textOf(message, isResult ? "tool_call_id" : "name") ?? "",
    lifetime,
    ...(isResult ? { kind: "tool_result" } : {}),
  });
  return endMessage([
    ...parts.map((part) => ({ ...part, endsMessage: false })),
    ...calls.map((call, place) => readCall(call, `messages.${index}.tool_calls.${place}`)),
  ]);
}

const nothing: JsonNode = { kind: "string", text: "" };

function readCall(call: JsonNode, path: string): BlockDraft {
  const made = memberOf(call, textOf(call, "type") ?? "function") ?? memberOf(call, "function");
  const name = textOf(made, "name") ?? "";
  const input = textOf(made, "arguments") ?? textOf(made, "input") ?? "";
  const text =
    made === undefined ? compactJson(call) : `${textOf(call, "id") ?? ""}\n${name}\n${input}`;
  return {
    path,
    section: `use of ${name} in ${path.split(".").slice(0, 2).join(" ")}`,
    tier: "T3",
    role: "assistant",
    kind: "tool_use",
    text,
    endsMessage: false,
    mayCarryMarker: false,
    markers: [],
    counted: { type: "tool_use", id: "", name, inputJson: input === "" ? "{}" : input },
  };
}
