// Tools that the application runs itself: the model is told of them, and nothing here can run them.
import type { ToolDefinition } from "../core/message/tool-definition.ts";
import { selectFromToolset } from "../core/tools/toolsets.ts";
import type { World } from "./world.ts";

export function offerTools(definitions: readonly ToolDefinition[]): NonNullable<World["tools"]> {
  const offered = definitions.map((definition) => ({ definition, needs: [] }));
  const toolset = { name: "own", granted: [] };
  return {
    toolsFor: (role) => selectFromToolset({ offered, toolset, role }),
    runAll: () => Promise.resolve([]),
  };
}
