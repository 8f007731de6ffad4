// Tools that a system message adds or removes: by the name of a defined tool, or with a new definition.
import type { JsonObject } from "../../json-source.ts";
import { typeOf } from "./read-blocks.ts";
import { asObject, fieldOf, textOr } from "./read-fields.ts";
import { readTool, type ReadTool, type ToolsByName } from "./read-tools.ts";

export interface ToolChange {
  readonly kind: "addition" | "removal";
  readonly name: string;
  /** The definition added to the prompt; null if the name is enough. */
  readonly definition: ReadTool | null;
}

/** The change a block makes, or null. */
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
