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
  checkBlock(json, type, tagged);
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

/** The fields of known kinds, and which of them must be text. */
const shapes: Readonly<
  Record<string, { readonly texts: readonly string[]; readonly others: readonly string[] }>
> = {
  text: { texts: ["text"], others: ["cache_control", "citations"] },
  thinking: { texts: ["thinking", "signature"], others: [] },
  redacted_thinking: { texts: ["data"], others: [] },
  tool_use: { texts: ["id", "name"], others: ["input", "cache_control", "caller", "toolset_name"] },
  tool_result: {
    texts: ["tool_use_id"],
    others: ["content", "is_error", "cache_control", "toolset_name"],
  },
};

function checkBlock(json: JsonObject, type: string, path: string): void {
  const shape = Object.hasOwn(shapes, type) ? shapes[type] : undefined;
  if (shape !== undefined) {
    refuseExtras(json, new Set(["type", ...shape.texts, ...shape.others]), path);
    for (const name of shape.texts) asText(fieldOf(json, name), `${path}.${name}`);
  }
  if (type === "tool_use") {
    checkId(json, "id", path);
    if (fieldOf(json, "input")?.kind !== "object")
      throw invalid(`${path}.input: Input should be a valid dictionary`);
  }
  if (type === "tool_result") {
    checkId(json, "tool_use_id", path);
    optional(json, "is_error", path, asBoolean);
  }
  if (type === "image" || type === "document") asObject(fieldOf(json, "source"), `${path}.source`);
}

function checkId(json: JsonObject, name: string, path: string): void {
  const id = asText(fieldOf(json, name), `${path}.${name}`);
  if (!/^[a-zA-Z0-9_-]+$/.test(id))
    throw invalid(`${path}.${name}: String should match pattern '^[a-zA-Z0-9_-]+$'`);
}
