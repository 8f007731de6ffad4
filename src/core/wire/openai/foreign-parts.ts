// Content as Chat Completions and Responses share it: text, or a list of parts with markers on them.
import type { BlockKind, PromptRole } from "../../assembly/prompt-block.ts";
import type { Block } from "../../message/message.ts";
import { lifetimes, type Lifetime } from "../../message/usage.ts";
import { markerOf } from "../foreign/cache-control.ts";
import { endMessage, type BlockDraft } from "../foreign/foreign-request.ts";
import * as json from "../../message/json-tree.ts";

export interface PartsPlace {
  readonly path: string;
  readonly section: string;
  readonly tier: BlockDraft["tier"];
  readonly role: PromptRole;
  /** The kind of every part, if it is not the part's own; such as `tool_result`. */
  readonly kind?: BlockKind;
  /** Shown before the first part: the call it answers, a name. */
  readonly head: string;
  /** The lifetime of a marker that names none. */
  readonly lifetime: Lifetime;
}

/** A text equals a list with one text part. */
export function readParts(
  content: json.JsonNode | undefined,
  place: PartsPlace,
): readonly BlockDraft[] {
  const parts = content === undefined ? [] : content.kind === "list" ? content.items : [content];
  return endMessage(parts.map((part, index) => readPart(part, index, place)));
}

function readPart(part: json.JsonNode, index: number, place: PartsPlace): BlockDraft {
  const own = kindOf(part, place.role);
  const text = partText(part);
  const path = `${place.path}.${index}`;
  const counted = countedPart(part, place.kind);
  // A plain string cannot hold a marker, and the model's own messages cannot either.
  const isFixed =
    place.role === "assistant" || (place.kind !== undefined && part.kind === "string");
  return {
    path,
    section: own === "image" || own === "document" ? `${own} in ${place.section}` : place.section,
    tier: place.tier,
    role: place.role,
    kind: place.kind ?? own,
    text: index === 0 && place.head !== "" ? `${place.head}\n${text}` : text,
    endsMessage: false,
    mayCarryMarker: !isFixed && own !== "empty text" && own !== "other",
    markers: partMarkers(part, path, place.lifetime),
    ...(counted === undefined ? {} : { counted }),
  };
}

function kindOf(part: json.JsonNode, role: PromptRole): BlockKind {
  const text =
    part.kind === "string"
      ? part.text
      : (json.textOf(part, "text") ?? json.textOf(part, "refusal"));
  if (text === "") return "empty text";
  if (text !== undefined) return role === "system" ? "system text" : "text";
  const type = json.textOf(part, "type") ?? "";
  if (type.includes("image")) return "image";
  return type.includes("file") || type.includes("audio") ? "document" : "other";
}

const markerFields: ReadonlySet<string> = new Set(["prompt_cache_breakpoint", "cache_control"]);

function partText(part: json.JsonNode): string {
  if (part.kind === "string") return part.text;
  return (
    json.textOf(part, "text") ??
    json.textOf(part, "refusal") ??
    json.compactJson(part, markerFields)
  );
}

function partMarkers(part: json.JsonNode, path: string, lifetime: Lifetime): BlockDraft["markers"] {
  const breakpoint = json.memberOf(part, "prompt_cache_breakpoint");
  if (breakpoint !== undefined) {
    const asked = lifetimes.find((each) => each === json.textOf(breakpoint, "ttl"));
    return [{ lifetime: asked ?? lifetime, path }];
  }
  // Routes to other providers take their markers here.
  const control = markerOf(part);
  return control === null ? [] : [{ lifetime: control, path }];
}

/** Undefined if the text is counted. A result is counted without the id of its call. */
function countedPart(part: json.JsonNode, kind: BlockKind | undefined): Block | undefined {
  const media = countedMedia(part);
  if (kind !== "tool_result") return media;
  return countedResult([media ?? { type: "text", text: partText(part) }]);
}

export function countedResult(content: readonly Block[]): Block {
  return { type: "tool_result", toolUseId: "", isError: false, content };
}

function countedMedia(part: json.JsonNode): Block | undefined {
  const type = json.textOf(part, "type") ?? "";
  if (type.includes("image")) {
    const url =
      json.textOf(part, "image_url") ?? json.textOf(json.memberOf(part, "image_url"), "url") ?? "";
    const data = dataOf(url);
    return data === null
      ? { type: "image", source: { kind: "url", url } }
      : { type: "image", source: { kind: "base64", mediaType: "", data } };
  }
  const isFile = type === "file" || type === "input_file" || type === "input_audio";
  return isFile ? { type: "document", source: { kind: "file", fileId: "" } } : undefined;
}

/** The bytes in a data URL; null for another address. */
function dataOf(url: string): string | null {
  const comma = url.startsWith("data:") ? url.indexOf(",") : -1;
  return comma === -1 ? null : url.slice(comma + 1);
}

/** Definitions without the deferred ones; those of a namespace stay together. */
export function readTools(tools: readonly json.JsonNode[], path: string): readonly BlockDraft[] {
  return tools.flatMap((tool, index): BlockDraft[] => {
    if (isDeferred(tool)) return [];
    return [
      {
        path: `${path}.${index}`,
        section: `tool ${toolName(tool)}`,
        tier: "T0",
        role: "tools",
        kind: "tool definition",
        text: toolText(tool),
        endsMessage: false,
        mayCarryMarker: false,
        markers: partMarkers(tool, `${path}.${index}`, "30m"),
      },
    ];
  });
}

/** Chat nests the definition under its type, Responses does not. */
function definitionOf(tool: json.JsonNode): json.JsonNode {
  return json.memberOf(tool, json.textOf(tool, "type") ?? "") ?? tool;
}

function isDeferred(tool: json.JsonNode): boolean {
  const inner = json.listOf(tool, "tools");
  if (json.textOf(tool, "type") === "namespace" && inner.length > 0) return inner.every(isDeferred);
  return json.isScalar(definitionOf(tool), "defer_loading", "true");
}

export function toolName(tool: json.JsonNode): string {
  return json.textOf(definitionOf(tool), "name") ?? json.textOf(tool, "type") ?? "without a name";
}

/** Definitions are long and stay the same: each is rendered once for as long as its node is kept. */
const rendered = new WeakMap<json.JsonNode, string>();

function toolText(tool: json.JsonNode): string {
  const text = rendered.get(tool) ?? renderTool(tool);
  rendered.set(tool, text);
  return text;
}

/** Keys sorted at the top; a schema as it was written. */
function renderTool(tool: json.JsonNode): string {
  const definition = definitionOf(tool);
  if (definition.kind !== "object") return json.compactJson(tool);
  const members = [...definition.members, ["type", json.memberOf(tool, "type")] as const]
    .flatMap(([key, value]) =>
      value === undefined || markerFields.has(key) ? [] : [[key, value] as const],
    )
    .toSorted(([left], [right]) => (left < right ? -1 : 1));
  return json.objectText(new Map(members.map(([key, value]) => [key, json.compactJson(value)])));
}
