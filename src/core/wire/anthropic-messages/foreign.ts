// Recognises and reads requests of the Messages API from any client.
import * as json from "../../message/json-tree.ts";
import type { ForeignReader } from "../foreign/foreign-reader.ts";
import { readByElements } from "../foreign/growing-reader.ts";
import { markerJson } from "./schema.ts";
import { growing } from "./foreign-growing.ts";

export const foreign: ForeignReader = {
  needs: "messages",
  isSentTo: ({ path, headers }) =>
    /\/messages\b/.test(path ?? "") || "anthropic-version" in headers,
  fits: (body) => json.memberOf(body, "messages")?.kind === "list",
  hasSigns,
  usualModels: /claude/i,
  otherNames: /anthropic/,
  modelOf: ({ body }) => json.textOf(body, "model") ?? "",
  outputLimits: ["max_tokens"],
  namesIn: (body) => ({
    session: sessionIn(json.textOf(json.memberOf(body, "metadata"), "user_id") ?? ""),
    cacheKey: null,
    continues: json.textOf(json.memberOf(body, "thread"), "previous_message_id") ?? null,
  }),
  read: (body, model) => readByElements(growing, body, model),
  growing,
  vendorText: {
    vendor: "anthropic",
    isIn: ({ tier, text }) => tier === "T1" && text.startsWith("x-anthropic-billing-header:"),
  },
  cacheDefaults: { mode: "explicit", lifetime: "5m" },
  showsThinking: true,
  marking: {
    names: ["cache_control"],
    settings: [],
    takesSlot: ["thread"],
    toPart: (text) => ({ type: "text", text }),
    words: ({ requestMarker }, { cache }) => ({
      toMarker: (lifetime) => ["cache_control", markerJson(lifetime)],
      members:
        requestMarker === null || cache.markers?.requestLevel !== true
          ? []
          : [["cache_control", markerJson(requestMarker)]],
    }),
  },
  toDiagnosis: (previousReplyId) => [
    "diagnostics",
    JSON.stringify({ previous_message_id: previousReplyId }),
  ],
  warming: {
    members: [
      { name: "max_tokens", json: "0", always: true },
      { name: "stream", json: "false", always: false },
    ],
    findObstacle: findWarmObstacle,
    placeholder: '[{"role":"user","content":"."}]',
  },
  repairing: { tools: "tools", toolName: ["name"], toolSchema: ["input_schema"] },
};

/** As in prewarm.ts, for a body of another client. */
function findWarmObstacle(body: json.JsonObject): string | null {
  const typeOf = (member: string): string | undefined =>
    json.textOf(json.memberOf(body, member), "type");
  if (json.hasMember(body, "cache_control")) return "a marker for the whole request";
  if (json.hasMember(body, "thread")) return "a history at the provider";
  if (typeOf("thinking") === "enabled") return "thinking with a budget";
  const config = json.memberOf(body, "output_config");
  if (config?.kind === "object" && config.members.has("format")) return "a schema of the reply";
  if (json.hasMember(body, "output_format")) return "a schema of the reply";
  const choice = typeOf("tool_choice");
  return choice === "any" || choice === "tool" ? "a tool that the model must call" : null;
}

/** Agents write their session into the id of the user, as JSON or behind a word. An id of a user alone is no session. */
function sessionIn(userId: string): string | null {
  const named =
    /"session_id"\s*:\s*"([^"]{1,100})"/.exec(userId) ??
    /(?:^|_)session_([\w-]{8,100})$/.exec(userId);
  return named?.[1] ?? null;
}

/** A body with a version goes to a cloud that carries such bodies. */
function hasSigns(body: json.JsonObject): boolean {
  if (json.hasMember(body, "anthropic_version")) return false;
  return (
    hasOwnSystem(body) ||
    ownMembers.some((member) => json.hasMember(body, member)) ||
    json.listOf(body, "tools").some((tool) => json.hasMember(tool, "input_schema")) ||
    json.listOf(body, "messages").some(hasOwnContent)
  );
}

/** Converse has blocks without a type there. */
function hasOwnSystem(body: json.JsonObject): boolean {
  const system = json.memberOf(body, "system");
  return system?.kind === "list"
    ? system.items.every((block) => json.hasMember(block, "type"))
    : system !== undefined;
}

const ownMembers: readonly string[] = [
  "thinking",
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
