// Recognises and reads requests of Chat Completions from any client.
import * as json from "../../../message/json-tree.ts";
import type { ForeignReader } from "../../foreign/foreign-reader.ts";
import { cacheSettings, markerNames, markWords } from "../cache.ts";
import type { PromptRole } from "../../../assembly/prompt-block.ts";
import type { Lifetime } from "../../../message/usage.ts";
import { endMessage, type BlockDraft } from "../../foreign/foreign-request.ts";
import {
  readByElements,
  type GrowingReader,
  type ReadFrame,
} from "../../foreign/growing-reader.ts";
import { namesIn, ownLifetimeOf, readOpenAiOptions } from "../foreign-options.ts";
import { readParts, readTools, type PartsPlace } from "../foreign-parts.ts";

interface ChatFrame extends ReadFrame {
  readonly root: json.JsonObject;
  readonly lifetime: Lifetime;
}

/** Whether only system messages stand before. */
interface Leading {
  readonly isLeading: boolean;
}

const growing: GrowingReader<ChatFrame, Leading> = {
  member: "messages",
  elementsOf: (body) => json.listOf(body, "messages"),
  readFrame: (root) => {
    const lifetime = ownLifetimeOf(root) ?? "30m";
    return {
      drafts: [
        ...readTools(json.listOf(root, "tools"), "tools"),
        ...readTools(json.listOf(root, "functions"), "functions"),
      ],
      forElements: lifetime,
      root,
      lifetime,
    };
  },
  start: { isLeading: true },
  readElement: (message, index, { frame: { lifetime }, carried }) => {
    const isLeading = carried.isLeading && roleOf(message) === "system";
    const drafts = readMessage(message, index, { isLeading, lifetime });
    const usesFrame = drafts.some(({ markers }) => markers.length > 0);
    return { drafts, carried: { isLeading }, usesFrame, closes: false };
  },
  finish: ({ root }) => readOpenAiOptions(root, "chat"),
};

export const foreign: ForeignReader = {
  needs: "messages",
  isSentTo: ({ path }) => /\/chat\/completions\b/.test(path ?? ""),
  fits: (body) => json.memberOf(body, "messages")?.kind === "list",
  hasSigns,
  usualModels: null,
  otherNames: /completions/,
  modelOf: ({ body }) => json.textOf(body, "model") ?? "",
  outputLimits: ["max_completion_tokens", "max_tokens"],
  namesIn,
  read: (body, model) => readByElements(growing, body, model),
  growing,
  cacheDefaults: { mode: "implicit", lifetime: "30m" },
  showsThinking: false,
  marking: {
    names: markerNames,
    settings: cacheSettings,
    takesSlot: [],
    toPart: (text) => ({ type: "text", text }),
    words: (plan, model) =>
      markWords(plan, model, { lifetimes: ["30m"], takesCacheKey: model.wire.cacheKey }),
  },
  repairing: {
    tools: "tools",
    toolName: ["function", "name"],
    toolSchema: ["function", "parameters"],
    toElement: (text) => `{"role":"system","content":${text}}`,
  },
};

function hasSigns(body: json.JsonObject): boolean {
  return (
    ownMembers.some((member) => json.hasMember(body, member)) ||
    json.listOf(body, "tools").some((tool) => json.hasMember(tool, "function")) ||
    json.listOf(body, "messages").some(isOwnMessage)
  );
}

const ownMembers: readonly string[] = [
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
  "functions",
];

/** No other protocol takes a system message at the beginning of its messages. */
function isOwnMessage(message: json.JsonNode, index: number): boolean {
  const role = json.textOf(message, "role");
  if (role === "developer" || role === "tool" || role === "function") return true;
  return (role === "system" && index === 0) || json.hasMember(message, "tool_calls");
}

function roleOf(message: json.JsonNode): PromptRole {
  const role = json.textOf(message, "role");
  if (role === "system" || role === "developer") return "system";
  return role === "assistant" ? "assistant" : "user";
}

function readMessage(
  message: json.JsonNode,
  index: number,
  { isLeading, lifetime }: { readonly isLeading: boolean } & Pick<PartsPlace, "lifetime">,
): readonly BlockDraft[] {
  const named = json.textOf(message, "role") ?? "user";
  const isResult = named === "tool" || named === "function";
  const role = roleOf(message);
  const calls = json.listOf(message, "tool_calls");
  const content = json.memberOf(message, "content") ?? json.memberOf(message, "refusal");
  const isEmpty = content?.kind === "string" && content.text === "" && calls.length > 0;
  const shown = isEmpty ? undefined : (content ?? (isResult ? nothing : undefined));
  const parts = readParts(shown, {
    path: `messages.${index}.content`,
    section: isResult ? `tool result in message ${index}` : `${named} message ${index}`,
    tier: isLeading ? "T1" : "T3",
    role,
    head: json.textOf(message, isResult ? "tool_call_id" : "name") ?? "",
    lifetime,
    ...(isResult ? { kind: "tool_result" } : {}),
  });
  return endMessage([
    ...parts.map((part) => ({ ...part, endsMessage: false })),
    ...calls.map((call, place) => readCall(call, `messages.${index}.tool_calls.${place}`)),
  ]);
}

const nothing: json.JsonNode = { kind: "string", text: "" };

function readCall(call: json.JsonNode, path: string): BlockDraft {
  const made =
    json.memberOf(call, json.textOf(call, "type") ?? "function") ?? json.memberOf(call, "function");
  const name = json.textOf(made, "name") ?? "";
  const input = json.textOf(made, "arguments") ?? json.textOf(made, "input") ?? "";
  const text =
    made === undefined
      ? json.compactJson(call)
      : `${json.textOf(call, "id") ?? ""}\n${name}\n${input}`;
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
