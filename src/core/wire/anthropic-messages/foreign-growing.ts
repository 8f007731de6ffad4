// Reads requests of the Messages API: tools and system first, then message by message.
import * as json from "../../message/json-tree.ts";
import type { ModelAbilities } from "../foreign/foreign-reader.ts";
import type { GrowingReader, ReadFrame } from "../foreign/growing-reader.ts";
import { kindOfType } from "./schema.ts";
import type { BlockKind, PromptRole } from "../../assembly/prompt-block.ts";
import { innerMarkers, markerOf, markersOf } from "../foreign/cache-control.ts";
import { endMessage, type BlockDraft, type StrayMarker } from "../foreign/foreign-request.ts";
import { countedBlock } from "./foreign-counting.ts";
import { renderBlock, renderTool, type DeferredTools } from "./foreign-rendering.ts";
import {
  lookInside,
  nothingSeen,
  readMessagesSettings,
  type SeenContent,
} from "./foreign-settings.ts";

interface MessagesFrame extends ReadFrame {
  readonly deferred: ReadonlyMap<string, string>;
  readonly stray: readonly StrayMarker[];
  readonly root: json.JsonObject;
  readonly model: ModelAbilities | undefined;
}

export const growing: GrowingReader<MessagesFrame, SeenContent> = {
  member: "messages",
  elementsOf: (body) => json.listOf(body, "messages"),
  readFrame: (root, model) => {
    const { drafts, deferred, stray } = readTools(root);
    return {
      drafts: [...drafts, ...readSystem(root, deferred)],
      forElements: deferred.size === 0 ? "" : JSON.stringify([...deferred]),
      deferred,
      stray,
      root,
      model,
    };
  },
  start: nothingSeen,
  readElement: (message, index, { frame, carried }) => {
    let usesFrame = false;
    const deferred: DeferredTools = {
      get: (name) => {
        usesFrame = true;
        return frame.deferred.get(name);
      },
    };
    const drafts = readMessage(message, index, deferred);
    const clears = drafts.some(({ kind }) => kind === clearedKind);
    return {
      drafts,
      carried: lookInside(message, carried),
      usesFrame,
      // It stays in the prefix, but the model no longer sees it after a new user message.
      ...(clears ? { whenClosed: drafts.map(withoutCount) } : {}),
      closes: json.textOf(message, "role") === "user",
    };
  },
  finish: ({ root, model, stray }, seen) => {
    const thinksByDefault = model?.capabilities.thinkingByDefault === true;
    const { thread, keepsThinking, settings } = readMessagesSettings(root, thinksByDefault, seen);
    return {
      requestMarker: markerOf(root),
      strayMarkers: stray,
      mode: "explicit",
      ownLifetime: null,
      settings,
      keepsThinking,
      continues: thread,
    };
  },
};

const clearedKind: BlockKind = "system message cleared at the next user message";

function withoutCount(draft: BlockDraft): BlockDraft {
  return draft.kind === clearedKind ? { ...draft, counted: null } : draft;
}

interface ReadTools {
  readonly drafts: readonly BlockDraft[];
  readonly deferred: ReadonlyMap<string, string>;
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

function readMessage(
  message: json.JsonNode,
  index: number,
  deferred: DeferredTools,
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
    return { ...draft, section, kind: clearedKind, mayCarryMarker: false };
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
