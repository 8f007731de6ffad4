// Renders a block to the text that reaches the model, without markers. Equal texts mean equal rendered bytes.
import { compactJson, type Json, type JsonObject } from "../../json-source.ts";
import { textOr } from "../request/read-fields.ts";
import { typeOf } from "../request/read-blocks.ts";
import { toolChangeOf, type ReadTool, type ToolsByName } from "../request/read-tools.ts";
import { invalid } from "../refusal.ts";

/** One block with its inner blocks. Unknown kinds are rendered as sent. */
export function renderBlock(block: JsonObject, tools: ToolsByName): string {
  const type = typeOf(block);
  const change = toolChangeOf(block, tools);
  if (change !== null)
    return objectText(
      new Map([
        ["type", JSON.stringify(type)],
        ["name", JSON.stringify(change.name)],
        ["definition", change.definition === null ? "null" : renderTool(change.definition)],
      ]),
    );
  if (!knownTypes.has(type)) return verbatim(block);
  const fields = new Map<string, string>();
  for (const name of [...block.fields.keys()].toSorted()) {
    const value = block.fields.get(name);
    if (value === undefined || isAbsent(type, name, value)) continue;
    fields.set(name, renderField(name, value, tools));
  }
  if (type === "tool_reference") fields.set("definition", expand(block, tools));
  return objectText(fields);
}

/** A tool definition, without its settings for loading and streaming. */
export function renderTool({ json }: ReadTool): string {
  const fields = new Map<string, string>();
  for (const name of [...json.fields.keys()].toSorted()) {
    const value = json.fields.get(name);
    if (value === undefined || isNull(value) || unrenderedOfTools.has(name)) continue;
    if (name === "type" && compactJson(value) === '"custom"') continue;
    if (name === "strict" && compactJson(value) === "false") continue;
    fields.set(name, compactJson(value));
  }
  return objectText(fields);
}

/** The tools that references in this block load. */
export function referencedTools(block: JsonObject): readonly string[] {
  if (typeOf(block) === "tool_reference") return [textOr(block, "tool_name", "")];
  return [...block.fields.values()].flatMap((value) =>
    value.kind === "list"
      ? value.items.flatMap((item) => (item.kind === "object" ? referencedTools(item) : []))
      : value.kind === "object"
        ? referencedTools(value)
        : [],
  );
}

const knownTypes: ReadonlySet<string> = new Set([
  "text",
  "image",
  "document",
  "search_result",
  "thinking",
  "redacted_thinking",
  "tool_use",
  "tool_result",
  "tool_reference",
  "compaction",
]);

const unrenderedOfTools: ReadonlySet<string> = new Set([
  "cache_control",
  "defer_loading",
  "eager_input_streaming",
]);

/** An explicit default counts as absent. */
function isAbsent(type: string, name: string, value: Json): boolean {
  if (name === "cache_control" || isNull(value)) return true;
  const text = `${type}.${name}`;
  if (text === "text.citations" || text === "tool_result.content")
    return value.kind === "list" ? value.items.length === 0 : isEmptyText(value);
  if (text === "tool_result.is_error") return value.kind === "literal" && value.value === false;
  if (text === "tool_use.caller") return value.kind === "object" && typeOf(value) === "direct";
  if (text === "document.citations" || text === "search_result.citations") return !isCiting(value);
  return false;
}

export function isCiting(citations: Json | undefined): boolean {
  if (citations?.kind !== "object") return false;
  const enabled = citations.fields.get("enabled");
  return enabled?.kind === "literal" && enabled.value === true;
}

function isNull(value: Json): boolean {
  return value.kind === "literal" && value.value === null;
}

function isEmptyText(value: Json): boolean {
  return value.kind === "string" && value.text === "";
}

function renderField(name: string, value: Json, tools: ToolsByName): string {
  if (name === "content") {
    if (value.kind === "string") return `[{"text":${JSON.stringify(value.text)},"type":"text"}]`;
    if (value.kind === "list") return renderList(value.items, tools);
  }
  if (name === "source" && value.kind === "object") {
    const content = value.fields.get("content");
    if (content?.kind === "list") return renderList(content.items, tools);
    // For a file the content matters, not the order of its fields.
    const fields = [...value.fields.keys()].toSorted();
    return objectText(new Map(fields.map((key) => [key, fieldText(value, key)])));
  }
  return compactJson(value);
}

function fieldText(object: JsonObject, key: string): string {
  const value = object.fields.get(key);
  return value === undefined ? "null" : compactJson(value);
}

function renderList(items: readonly Json[], tools: ToolsByName): string {
  const texts = items.map((item) =>
    item.kind === "object" ? renderBlock(item, tools) : compactJson(item),
  );
  return `[${texts.join(",")}]`;
}

function expand(block: JsonObject, tools: ToolsByName): string {
  const name = textOr(block, "tool_name", "");
  const tool = tools.get(name);
  if (tool === undefined) throw invalid(`Tool reference '${name}' not found in available tools`);
  return tool.deferred ? renderTool(tool) : "{}";
}

function verbatim(block: JsonObject): string {
  const kept = [...block.fields].filter(([name]) => name !== "cache_control");
  return objectText(new Map(kept.map(([name, value]) => [name, compactJson(value)])));
}

function objectText(fields: ReadonlyMap<string, string>): string {
  return `{${[...fields].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`;
}
