// Reads content blocks: checks known kinds, keeps unknown kinds as sent.
import { jsonObject, jsonText, type Json, type JsonObject } from "../../json-source.ts";
import {
  asBoolean,
  asList,
  asObject,
  asOneOf,
  asText,
  fieldOf,
  optional,
  refuseExtras,
} from "./read-fields.ts";
import { extraInput, invalid } from "../refusal.ts";

export interface ReadBlock {
  /** As in error messages: messages.0.content.1 */
  readonly path: string;
  readonly type: string;
  readonly json: JsonObject;
  /** The markers of the block and of blocks inside it, in order. */
  readonly marks: readonly ReadMark[];
}

/** One cache_control. */
export interface ReadMark {
  readonly path: string;
  readonly ttl: "5m" | "1h";
}

/** A string is a list with one text block. */
export function readContent(json: Json | null, path: string): ReadBlock[] {
  if (json?.kind === "string") return json.text === "" ? [] : [textBlock(json.text, `${path}.0`)];
  return asList(json, path).items.map((item, index) => readBlock(item, `${path}.${index}`));
}

export function readMark(json: Json, path: string): ReadMark {
  const control = asObject(json, path);
  asOneOf(fieldOf(control, "type"), ["ephemeral"], `${path}.type`);
  refuseExtras(control, new Set(["type", "ttl"]), `${path}.ephemeral`);
  const choices = ["5m", "1h"] as const;
  const ttl = optional(control, "ttl", `${path}.ephemeral`, (value, at) =>
    asOneOf(value, choices, at),
  );
  return { path, ttl: ttl ?? "5m" };
}

/** The blocks inside a block: content of a tool result, a document or a search result. */
export function childrenOf(block: JsonObject): readonly JsonObject[] {
  const source = block.fields.get("source");
  const content =
    source?.kind === "object" ? source.fields.get("content") : block.fields.get("content");
  if (content?.kind !== "list") return [];
  return content.items.filter((item) => item.kind === "object");
}

export function typeOf(block: JsonObject): string {
  const type = block.fields.get("type");
  return type?.kind === "string" ? type.text : "";
}

function textBlock(text: string, path: string): ReadBlock {
  const json = jsonObject([
    ["type", jsonText("text")],
    ["text", jsonText(text)],
  ]);
  return { path, type: "text", json, marks: [] };
}

function readBlock(value: Json, path: string): ReadBlock {
  const json = asObject(value, path);
  const type = asText(fieldOf(json, "type"), `${path}.type`);
  const tagged = `${path}.${type}`;
  checkers.get(type)?.(json, tagged);
  const own = optional(json, "cache_control", path, readMark);
  if (own !== null && unmarkable.has(type)) throw extraInput(`${tagged}.cache_control`);
  if (own !== null && type === "text" && asText(fieldOf(json, "text"), tagged) === "")
    throw invalid(`${tagged}: cache_control cannot be set for empty text blocks`);
  const inner = containers.has(type) ? readInner(json, tagged) : [];
  return { path, type, json, marks: [...inner, ...(own === null ? [] : [own])] };
}

function readInner(json: JsonObject, tagged: string): readonly ReadMark[] {
  const source = fieldOf(json, "source");
  const [holder, at] =
    source?.kind === "object" ? [source, `${tagged}.source.content`] : [json, `${tagged}.content`];
  const content = fieldOf(holder, "content");
  if (content === null || content.kind === "string") return [];
  return readContent(content, at).flatMap(({ marks }) => marks);
}

const unmarkable: ReadonlySet<string> = new Set(["thinking", "redacted_thinking"]);
const containers: ReadonlySet<string> = new Set(["tool_result", "search_result", "document"]);

const known = (...names: readonly string[]): ReadonlySet<string> => new Set(["type", ...names]);
const textFields = known("text", "cache_control", "citations");
const thinkingFields = known("thinking", "signature");
const redactedFields = known("data");
const toolUseFields = known("id", "name", "input", "cache_control", "caller", "toolset_name");
const resultFields = known("tool_use_id", "content", "is_error", "cache_control", "toolset_name");

const checkers: ReadonlyMap<string, (json: JsonObject, path: string) => void> = new Map([
  [
    "text",
    (json, path) => {
      refuseExtras(json, textFields, path);
      asText(fieldOf(json, "text"), `${path}.text`);
    },
  ],
  [
    "thinking",
    (json, path) => {
      refuseExtras(json, thinkingFields, path);
      asText(fieldOf(json, "thinking"), `${path}.thinking`);
      asText(fieldOf(json, "signature"), `${path}.signature`);
    },
  ],
  [
    "redacted_thinking",
    (json, path) => {
      refuseExtras(json, redactedFields, path);
      asText(fieldOf(json, "data"), `${path}.data`);
    },
  ],
  [
    "tool_use",
    (json, path) => {
      refuseExtras(json, toolUseFields, path);
      checkId(json, "id", path);
      asText(fieldOf(json, "name"), `${path}.name`);
      if (fieldOf(json, "input")?.kind !== "object")
        throw invalid(`${path}.input: Input should be a valid dictionary`);
    },
  ],
  [
    "tool_result",
    (json, path) => {
      refuseExtras(json, resultFields, path);
      checkId(json, "tool_use_id", path);
      optional(json, "is_error", path, asBoolean);
    },
  ],
  ["image", (json, path) => void asObject(fieldOf(json, "source"), `${path}.source`)],
  ["document", (json, path) => void asObject(fieldOf(json, "source"), `${path}.source`)],
]);

function checkId(json: JsonObject, name: string, path: string): void {
  const id = asText(fieldOf(json, name), `${path}.${name}`);
  if (!/^[a-zA-Z0-9_-]+$/.test(id))
    throw invalid(`${path}.${name}: String should match pattern '^[a-zA-Z0-9_-]+$'`);
}
