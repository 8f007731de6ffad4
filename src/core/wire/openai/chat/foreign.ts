// Recognises and reads requests of Chat Completions from any client.
import * as json from "../../../message/json-tree.ts";
import type { ForeignReader } from "../../foreign/foreign-reader.ts";
import { markWords } from "../cache.ts";
import { readChatShape } from "./read-foreign.ts";

export const foreign: ForeignReader = {
  needs: "messages",
  isSentTo: ({ path }) => /\/chat\/completions\b/.test(path ?? ""),
  fits: (body) => json.memberOf(body, "messages")?.kind === "list",
  hasSigns,
  usualModels: null,
  otherNames: /completions/,
  modelOf: ({ body }) => json.textOf(body, "model") ?? "",
  read: readChatShape,
  cacheDefaults: { mode: "implicit", lifetime: "30m" },
  showsThinking: false,
  marking: {
    toPart: (text) => ({ type: "text", text }),
    words: (plan, model) =>
      markWords(plan, model, { lifetimes: ["30m"], takesCacheKey: model.wire.cacheKey }),
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
