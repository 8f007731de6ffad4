// Recognises and reads requests of the Messages API from any client.
import * as json from "../../message/json-tree.ts";
import type { ForeignReader, ModelAbilities } from "../foreign/foreign-reader.ts";
import { markerJson, kindOfType } from "./schema.ts";
import type { BlockKind, PromptRole } from "../../assembly/prompt-block.ts";
import { innerMarkers, markerOf, markersOf } from "../foreign/cache-control.ts";
import {
  endMessage,
  type BlockDraft,
  type ReadShape,
  type StrayMarker,
} from "../foreign/foreign-request.ts";
import { countedBlock } from "./foreign-counting.ts";
import { renderBlock, renderTool, type DeferredTools } from "./foreign-rendering.ts";
import { readMessagesSettings } from "./foreign-settings.ts";

export const foreign: ForeignReader = {
  needs: "messages",
  isSentTo: ({ path, headers }) =>
    /\/messages\b/.test(path ?? "") || "anthropic-version" in headers,
  fits: (body) => json.memberOf(body, "messages")?.kind === "list",
  hasSigns,
  usualModels: /claude/i,
  otherNames: /anthropic/,
  modelOf: ({ body }) => json.textOf(body, "model") ?? "",
  namesIn: (body) => ({
    session: sessionIn(json.textOf(json.memberOf(body, "metadata"), "user_id") ?? ""),
    cacheKey: null,
    continues: json.textOf(json.memberOf(body, "thread"), "previous_message_id") ?? null,
  }),
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

/** Agents write their session into the id of the user, as JSON or behind a word. An id of a user alone is no session. */
function sessionIn(userId: string): string | null {
  const named =
    /"session_id"\s*:\s*"([^"]{1,100})"/.exec(userId) ??
    /(?:^|_)session_([\w-]{8,100})$/.exec(userId);
  return named?.[1] ?? null;
}

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

function readMessagesShape(root: json.JsonObject, model: ModelAbilities | undefined): ReadShape {
  const tools = readTools(root);
  const messages = json.listOf(root, "messages");
  const lastUser = messages.findLastIndex((message) => json.textOf(message, "role") === "user");
  const drafts = [
    ...tools.drafts,
    ...readSystem(root, tools.deferred),
    ...messages.flatMap((message, index) =>
      readMessage(message, index, { deferred: tools.deferred, hasLaterUser: index < lastUser }),
    ),
  ];
  const { thread, keepsThinking, settings } = readMessagesSettings(
    root,
    model?.capabilities.thinkingByDefault === true,
  );
  return {
    drafts,
    requestMarker: markerOf(root),
    strayMarkers: tools.stray,
    mode: "explicit",
    ownLifetime: null,
    settings,
    keepsThinking,
    continues: thread,
  };
}

interface ReadTools {
  readonly drafts: readonly BlockDraft[];
  readonly deferred: DeferredTools;
  readonly stray: readonly StrayMarker[];
}

/** Deferred tools are not in the prompt until a block names them. */
function readTools(root: json.JsonObject): ReadTools {
  const shown: BlockDraft[] = [];
  const web: BlockDraft[] = [];
  const deferred = new Map<string, string>();
  const stray: StrayMarker[] = [];
  for (const [index, tool] of json.listOf(root, "tools").entries()) {
    const path = `tools.${index}`;
    const name = json.textOf(tool, "name") ?? json.textOf(tool, "mcp_server_name") ?? path;
    const text = renderTool(tool);
    if (json.isScalar(tool, "defer_loading", "true")) {
      deferred.set(name, text);
      if (markerOf(tool) !== null) stray.push({ path, on: "deferred tool" });
      continue;
    }
    // Web tools are rendered after the others: a change leaves the others cached.
    const isWeb = /^web_(?:search|fetch)_\d{1,8}$/.test(json.textOf(tool, "type") ?? "");
    (isWeb ? web : shown).push({
      path,
      section: `tool ${name}`,
      tier: "T0",
      role: "tools",
      kind: "tool definition",
      text,
      endsMessage: false,
      mayCarryMarker: true,
      markers: markersOf(tool, path),
    });
  }
  return { drafts: [...shown, ...web], deferred, stray };
}

function readSystem(root: json.JsonObject, deferred: DeferredTools): readonly BlockDraft[] {
  return endMessage(
    contentOf(json.memberOf(root, "system")).map((block, index) => {
      const path = `system.${index}`;
      const draft = readBlock(block, { path, role: "system", deferred });
      const kind = draft.kind === "text" ? "system text" : draft.kind;
      return { ...draft, section: `system block ${index}`, tier: "T1", kind };
    }),
  );
}

interface MessageSetting {
  readonly deferred: DeferredTools;
  readonly hasLaterUser: boolean;
}

function readMessage(
  message: json.JsonNode,
  index: number,
  { deferred, hasLaterUser }: MessageSetting,
): readonly BlockDraft[] {
  const named = json.textOf(message, "role") ?? "user";
  const role: PromptRole = named === "assistant" || named === "system" ? named : "user";
  const clears = json.textOf(message, "clear_at") === "next_user_message";
  const config = json.memberOf(message, "output_config");
  const blocks = contentOf(json.memberOf(message, "content")).map((block, place): BlockDraft => {
    const path = `messages.${index}.content.${place}`;
    const draft = readBlock(block, { path, role, deferred });
    const section = sectionOf(draft.kind, block, `${role} message ${index}`);
    if (!clears) return { ...draft, section };
    const kind = "system message cleared at the next user message";
    // It stays in the prefix, but the model no longer sees it after a new user message.
    const counted = hasLaterUser ? { counted: null } : {};
    return { ...draft, section, kind, mayCarryMarker: false, ...counted };
  });
  return endMessage(
    config === undefined ? blocks : [configDraft(config, `messages.${index}`, role), ...blocks],
  );
}

/** Settings among the messages cost nothing, but they apply to the messages after them. */
function configDraft(config: json.JsonNode, path: string, role: PromptRole): BlockDraft {
  return {
    path: `${path}.output_config`,
    section: "output settings",
    tier: "T3",
    role,
    kind: "other",
    text: json.compactJson(config),
    endsMessage: false,
    mayCarryMarker: false,
    markers: [],
    counted: null,
  };
}

/** A text equals a list with one text block; an empty text equals an empty list. */
function contentOf(content: json.JsonNode | undefined): readonly json.JsonNode[] {
  if (content === undefined) return [];
  if (content.kind === "list") return content.items;
  return content.kind === "string" && content.text === "" ? [] : [content];
}

function readBlock(
  block: json.JsonNode,
  place: { readonly path: string; readonly role: PromptRole; readonly deferred: DeferredTools },
): BlockDraft {
  const kind = kindOf(block);
  const text = renderBlock(block, place.deferred);
  const counted = countedBlock(block);
  return {
    path: place.path,
    section: place.path,
    tier: "T3",
    role: place.role,
    kind,
    text,
    endsMessage: false,
    mayCarryMarker: kind !== "thinking" && kind !== "redacted_thinking" && kind !== "empty text",
    markers: [...innerMarkers(block, place.path), ...markersOf(block, place.path)],
    ...(counted === undefined ? {} : { counted }),
  };
}

function kindOf(block: json.JsonNode): BlockKind {
  if (block.kind === "string") return "text";
  const kind = kindOfType(json.textOf(block, "type") ?? "");
  return kind === "text" && json.textOf(block, "text") === "" ? "empty text" : kind;
}

function sectionOf(kind: BlockKind, block: json.JsonNode, message: string): string {
  if (kind === "tool_use") return `use of ${json.textOf(block, "name") ?? "a tool"} in ${message}`;
  if (kind === "tool_result") return `tool result in ${message}`;
  return kind === "text" || kind === "empty text" ? message : `${kind} in ${message}`;
}
