// Reads content blocks: checks known kinds, keeps unknown kinds as sent.
import { jsonObject, jsonText, type JsonObject } from "../../json-source.ts";
import { fields, find, pathOf, refuseExtras, type Place } from "./read-fields.ts";
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
export function readContent(place: Place, key: string): ReadBlock[] {
  const json = find(place, key);
  if (json?.kind !== "string") return fields.placesAt(place, key).map(readBlock);
  return json.text === "" ? [] : [textBlock(json.text, `${pathOf(place, key)}.0`)];
}

/** The marker of a block, a tool or the request. */
export function findMark(place: Place): ReadMark | null {
  const control = fields.findPlace(place, "cache_control");
  if (control === null) return null;
  const { object, path } = control;
  fields.oneOfAt(control, "type", ["ephemeral"]);
  const ephemeral = { object, path: `${path}.ephemeral` };
  refuseExtras(ephemeral, new Set(["type", "ttl"]));
  return { path, ttl: fields.findOneOf(ephemeral, "ttl", ["5m", "1h"]) ?? "5m" };
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

function readBlock(place: Place): ReadBlock {
  const { object: json, path } = place;
  const type = fields.textAt(place, "type");
  const tagged = { object: json, path: `${path}.${type}` };
  checkBlock(tagged, type);
  const own = findMark(place);
  if (own !== null && unmarkable.has(type)) throw extraInput(`${tagged.path}.cache_control`);
  if (own !== null && type === "text" && fields.textAt(tagged, "text") === "")
    throw invalid(`${tagged.path}: cache_control cannot be set for empty text blocks`);
  const inner = containers.has(type) ? readInner(tagged) : [];
  return { path, type, json, marks: [...inner, ...(own === null ? [] : [own])] };
}

function readInner(tagged: Place): readonly ReadMark[] {
  const source =
    find(tagged, "source")?.kind === "object" ? fields.findPlace(tagged, "source") : null;
  const holder = source ?? tagged;
  const content = find(holder, "content");
  if (content === null || content.kind === "string") return [];
  return readContent(holder, "content").flatMap(({ marks }) => marks);
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

function checkBlock(block: Place, type: string): void {
  const shape = Object.hasOwn(shapes, type) ? shapes[type] : undefined;
  if (shape !== undefined) {
    refuseExtras(block, new Set(["type", ...shape.texts, ...shape.others]));
    for (const name of shape.texts) fields.textAt(block, name);
  }
  if (type === "tool_use") {
    checkId(block, "id");
    if (find(block, "input")?.kind !== "object")
      throw invalid(`${block.path}.input: Input should be a valid dictionary`);
  }
  if (type === "tool_result") {
    checkId(block, "tool_use_id");
    fields.findFlag(block, "is_error");
  }
  if (type === "image" || type === "document") fields.placeAt(block, "source");
}

function checkId(block: Place, name: string): void {
  if (!/^[a-zA-Z0-9_-]+$/.test(fields.textAt(block, name)))
    throw invalid(`${block.path}.${name}: String should match pattern '^[a-zA-Z0-9_-]+$'`);
}
