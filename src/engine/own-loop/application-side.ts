// For engines whose application sends the calls and runs the tools itself.
import type { ToolDefinition } from "../../core/message/tool-definition.ts";
import { selectFromToolset } from "../../core/tools/toolsets.ts";
import type { Deps } from "../turn/deps.ts";
import type { World } from "../world/world.ts";

/** Offers these tools to the model. The engine cannot run them. */
export function offerTools(definitions: readonly ToolDefinition[]): NonNullable<World["tools"]> {
  const offered = definitions.map((definition) => ({ definition, needs: [] }));
  const toolset = { name: "own", granted: [] };
  return {
    toolsFor: (role) => selectFromToolset({ offered, toolset, role }),
    runAll: () => Promise.resolve([]),
  };
}

/** Sends nothing. A history that must be shortened gets an outline instead of a summary. */
export const sendsNothing: Deps["provider"] = {
  send: () =>
    Promise.resolve({
      outcome: { kind: "not-found", detail: "no provider is given" },
      attempts: [],
      startMs: 0,
      endMs: 0,
      firstByteMs: null,
      status: null,
      requestId: null,
      headers: {},
    }),
};
