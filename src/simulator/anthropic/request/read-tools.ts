// Reads tool definitions, and the changes of tools in system messages.
import type { JsonObject } from "../../json-source.ts";
import { fields, textOr, type Place } from "./read-fields.ts";
import { findMark, typeOf, type ReadMark } from "./read-blocks.ts";
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

export function readTools(body: Place): readonly ReadTool[] {
  const tools = (fields.findPlaces(body, "tools") ?? []).map(readTool);
  const names = tools.map(({ name }) => name);
  if (new Set(names).size < names.length) throw invalid("tools: Tool names must be unique.");
  if (tools.length > 0 && tools.every(({ deferred }) => deferred))
    throw invalid("At least one tool must have defer_loading=false. All tools cannot be deferred.");
  return tools;
}

export function readTool(place: Place): ReadTool {
  const { object: json, path } = place;
  const type = fields.findText(place, "type") ?? "custom";
  if (type === "mcp_toolset") throw notSimulated(`${path}.mcp_toolset`);
  const tagged = { object: json, path: `${path}.${type}` };
  if (type === "custom") checkCustom(tagged);
  const name = fields.textAt(tagged, "name");
  const mark = findMark(place);
  const deferred = fields.findFlag(place, "defer_loading") ?? false;
  if (deferred && mark !== null)
    throw invalid(
      `Tool '${name}' cannot have both defer_loading=true and cache_control set. Tools with defer_loading cannot use prompt caching.`,
    );
  return { path, name, json, mark, deferred, isWebTool: /^web_(search|fetch)_\d+$/.test(type) };
}

function checkCustom(tool: Place): void {
  if (!/^[a-zA-Z0-9_-]{1,128}$/.test(fields.textAt(tool, "name")))
    throw invalid(`${tool.path}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
  fields.findText(tool, "description");
  fields.oneOfAt(fields.placeAt(tool, "input_schema"), "type", ["object"]);
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
      const { object } = fields.placeAt({ object: tool, path: "tool" }, "definition");
      const definition = readTool({ object, path: "tool" });
      return { kind, name: definition.name, definition: kind === "addition" ? definition : null };
    }
    default:
      return null;
  }
}
