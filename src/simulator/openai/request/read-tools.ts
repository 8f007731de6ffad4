// Tool definitions of both APIs: functions, custom tools, namespaces, and tools the provider runs.
import { missing, unknownParameter } from "../api-error.ts";
import { find, findFlag, findPlace, findPlaces, findText, textAt, type Place } from "./fields.ts";
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
  return (findPlaces(place, key) ?? []).map((tool) => {
    if (find(tool, "prompt_cache_breakpoint") !== null) {
      throw unknownParameter(`${tool.path}.prompt_cache_breakpoint`);
    }
    const tools = readEntry(tool, null);
    const isDeferred = tools.length > 0 && tools.every((each) => each.isDeferred);
    return { source: compactJson(tool.object), isDeferred, tools };
  });
}

function readEntry(place: Place, namespace: string | null): readonly ToolDefinition[] {
  const type = textAt(place, "type");
  if (type === "namespace") {
    const name = textAt(place, "name");
    return (findPlaces(place, "tools") ?? []).flatMap((tool) => readEntry(tool, name));
  }
  if (type !== "function" && type !== "custom") {
    const hosted = { name: type, namespace, description: "", inputSchema: null };
    return [{ ...hosted, kind: "hosted", isDeferred: findFlag(place, "defer_loading") ?? false }];
  }
  // Chat nests the definition under the name of its type, Responses does not.
  const definition = findPlace(place, type) ?? place;
  const name = textAt(definition, "name");
  if (name === "") throw missing(`${definition.path}.name`);
  const schema = find(definition, "parameters");
  return [
    {
      name,
      namespace,
      description: findText(definition, "description") ?? "",
      kind: type,
      inputSchema: type === "custom" ? null : schema === null ? {} : toPlainValue(schema),
      isDeferred: findFlag(definition, "defer_loading") ?? false,
    },
  ];
}
