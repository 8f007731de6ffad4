// Tools of both APIs: definitions (functions, custom tools, namespaces, tools the provider runs), and the choice of them.
import { missing, unknownParameter, wrongValue } from "../api-error.ts";
import { fields, find, unfit, type Place } from "./fields.ts";
import type { ToolDefinition } from "./items.ts";
import { compactJson, toPlainValue } from "../../json-source.ts";

/** One definition of the client; a namespace contains several tools. */
export interface ToolEntry {
  /** The text that is hashed: as the client sent it, without white space. */
  readonly source: string;
  readonly isDeferred: boolean;
  readonly tools: readonly ToolDefinition[];
}

export function readTools(place: Place, key: string): readonly ToolEntry[] {
  return (fields.findPlaces(place, key) ?? []).map((tool) => {
    if (find(tool, "prompt_cache_breakpoint") !== null) {
      throw unknownParameter(`${tool.path}.prompt_cache_breakpoint`);
    }
    const tools = readEntry(tool, null);
    const isDeferred = tools.length > 0 && tools.every((each) => each.isDeferred);
    return { source: compactJson(tool.object), isDeferred, tools };
  });
}

function readEntry(place: Place, namespace: string | null): readonly ToolDefinition[] {
  const type = fields.textAt(place, "type");
  if (type === "namespace") {
    const name = fields.textAt(place, "name");
    return (fields.findPlaces(place, "tools") ?? []).flatMap((tool) => readEntry(tool, name));
  }
  if (type !== "function" && type !== "custom") {
    const hosted = { name: type, namespace, description: "", inputSchema: null };
    return [
      { ...hosted, kind: "hosted", isDeferred: fields.findFlag(place, "defer_loading") ?? false },
    ];
  }
  // Chat nests the definition under the name of its type, Responses does not.
  const definition = fields.findPlace(place, type) ?? place;
  const name = fields.textAt(definition, "name");
  if (name === "") throw missing(`${definition.path}.name`);
  const schema = find(definition, "parameters");
  return [
    {
      name,
      namespace,
      description: fields.findText(definition, "description") ?? "",
      kind: type,
      inputSchema: type === "custom" ? null : schema === null ? {} : toPlainValue(schema),
      isDeferred: fields.findFlag(definition, "defer_loading") ?? false,
    },
  ];
}

export interface ToolChoice {
  readonly choice: "auto" | "none" | "any" | { readonly name: string };
  /** Null if every tool is allowed. */
  readonly allowed: readonly string[] | null;
}

const words = { none: "none", auto: "auto", required: "any" } as const;

/** Auto, none, required, one tool, or a list of allowed tools. */
export function readToolChoice(body: Place): ToolChoice {
  const value = find(body, "tool_choice");
  if (value === null) return { choice: "auto", allowed: null };
  if (value.kind === "string") {
    const choice = Object.entries(words).find(([word]) => word === value.text)?.[1];
    if (choice === undefined) throw wrongValue("tool_choice", value.text, Object.keys(words));
    return { choice, allowed: null };
  }
  const place = fields.findPlace(body, "tool_choice");
  if (place === null) throw unfit(body, "tool_choice", "one of a string or an object", value);
  const type = fields.textAt(place, "type");
  if (type === "allowed_tools") {
    const set = fields.findPlace(place, "allowed_tools") ?? place;
    const allowed = (fields.findPlaces(set, "tools") ?? []).map(nameIn);
    return { choice: fields.findText(set, "mode") === "required" ? "any" : "auto", allowed };
  }
  if (type === "function" || type === "custom") {
    const name = nameIn(place);
    if (name === "") throw missing("tool_choice.name");
    return { choice: { name }, allowed: null };
  }
  return { choice: "auto", allowed: null };
}

/** Chat nests the name under the tool's type, Responses does not. */
function nameIn(place: Place): string {
  const nested = fields.findPlace(place, fields.textAt(place, "type"));
  return fields.findText(nested ?? place, "name") ?? "";
}
