// Recognises and reads requests of the Messages API from any client.
import * as json from "../../message/json-tree.ts";
import type { ForeignReader } from "../foreign/foreign-reader.ts";
import { readMessagesShape } from "./read-foreign.ts";
import { markerJson } from "./schema.ts";

export const foreign: ForeignReader = {
  needs: "messages",
  isSentTo: ({ path, headers }) =>
    /\/messages\b/.test(path ?? "") || "anthropic-version" in headers,
  fits: (body) => json.memberOf(body, "messages")?.kind === "list",
  hasSigns,
  usualModels: /claude/i,
  otherNames: /anthropic/,
  modelOf: ({ body }) => json.textOf(body, "model") ?? "",
  read: readMessagesShape,
  cacheDefaults: { mode: "explicit", lifetime: "5m" },
  showsThinking: true,
  marking: {
    toPart: (text) => ({ type: "text", text }),
    words: ({ requestMarker }, { cache }) => ({
      toMarker: (lifetime) => ["cache_control", markerJson(lifetime)],
      members:
        requestMarker === null || cache.markers?.requestLevel !== true
          ? []
          : [["cache_control", markerJson(requestMarker)]],
    }),
  },
};

function hasSigns(body: json.JsonObject): boolean {
  return (
    ownMembers.some((member) => json.hasMember(body, member)) ||
    json.listOf(body, "tools").some((tool) => json.hasMember(tool, "input_schema")) ||
    json.listOf(body, "messages").some(hasOwnContent)
  );
}

const ownMembers: readonly string[] = [
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

const ownTypes: ReadonlySet<string> = new Set([
  "tool_use",
  "tool_result",
  "thinking",
  "redacted_thinking",
  "document",
  "image",
]);

function hasOwnContent(message: json.JsonNode): boolean {
  return json
    .listOf(message, "content")
    .some((part) => ownTypes.has(json.textOf(part, "type") ?? ""));
}
