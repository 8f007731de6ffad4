// Reads tool definitions, and the changes of tools in system messages.
import {
  fieldOf,
  asBoolean,
  asList,
  asObject,
  asOneOf,
  asText,
  optional,
  textOr,
} from "./read-fields.ts";
import type { Json, JsonObject } from "../../json-source.ts";
import { readMark, typeOf, type ReadMark } from "./read-blocks.ts";
import { invalid, notSimulated } from "../refusal.ts";

export interface ReadTool {
  readonly path: string;
  readonly name: string;
  readonly json: JsonObject;
  readonly mark: ReadMark | null;
  /** Not in the prompt until a tool_reference or a tool_addition loads it. */
  readonly deferred: boolean;
  /** Web search and fetch are rendered with the system prompt, so switching them keeps other tools cached. */
  readonly isWebTool: boolean;
}

export type ToolsByName = ReadonlyMap<string, ReadTool>;

export function readTools(json: Json | null): readonly ReadTool[] {
  if (json === null) return [];
  const tools = asList(json, "tools").items.map((item, index) => readTool(item, `tools.${index}`));
  const names = tools.map(({ name }) => name);
  if (new Set(names).size < names.length) throw invalid("tools: Tool names must be unique.");
  if (tools.length > 0 && tools.every(({ deferred }) => deferred))
    throw invalid("At least one tool must have defer_loading=false. All tools cannot be deferred.");
  return tools;
}

export function readTool(value: Json, path: string): ReadTool {
  const json = asObject(value, path);
  const type = optional(json, "type", path, asText) ?? "custom";
  if (type === "mcp_toolset") throw notSimulated(`${path}.mcp_toolset`);
  if (type === "custom") checkCustom(json, `${path}.custom`);
  const name = asText(fieldOf(json, "name"), `${path}.${type}.name`);
  const mark = optional(json, "cache_control", path, readMark);
  const deferred = optional(json, "defer_loading", path, asBoolean) ?? false;
  if (deferred && mark !== null)
    throw invalid(
      `Tool '${name}' cannot have both defer_loading=true and cache_control set. Tools with defer_loading cannot use prompt caching.`,
    );
  return { path, name, json, mark, deferred, isWebTool: /^web_(search|fetch)_\d+$/.test(type) };
}

function checkCustom(json: JsonObject, path: string): void {
  const name = asText(fieldOf(json, "name"), `${path}.name`);
  if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name))
    throw invalid(`${path}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
  optional(json, "description", path, asText);
  const schema = asObject(fieldOf(json, "input_schema"), `${path}.input_schema`);
  asOneOf(fieldOf(schema, "type"), ["object"], `${path}.input_schema.type`);
}

/** A tool that a system message adds or removes: by the name of a defined tool, or with a new definition. */
export interface ToolChange {
  readonly kind: "addition" | "removal";
  readonly name: string;
  /** The definition added to the prompt; null if the name is enough. */
  readonly definition: ReadTool | null;
}

export function toolChangeOf(block: JsonObject, tools: ToolsByName): ToolChange | null {
  const type = typeOf(block);
  if (type !== "tool_addition" && type !== "tool_removal") return null;
  const kind = type === "tool_addition" ? "addition" : "removal";
  const tool = block.fields.get("tool");
  if (tool?.kind !== "object") return null;
  switch (typeOf(tool)) {
    case "tool_reference": {
      const name = textOr(tool, "name", "");
      const named = tools.get(name);
      const isBroughtIn = kind === "addition" && named?.deferred === true;
      return { kind, name, definition: isBroughtIn ? named : null };
    }
    case "tool_definition": {
      const definition = readTool(asObject(fieldOf(tool, "definition"), "tool.definition"), "tool");
      return { kind, name: definition.name, definition: kind === "addition" ? definition : null };
    }
    default:
      return null;
  }
}
