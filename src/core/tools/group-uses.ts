// The order in which the tool uses of one reply run.
import type { ToolUseBlock } from "../message/message.ts";
import type { Tool } from "./tool.ts";

type Effects = Pick<Tool, "sideEffects" | "runsTogether">;

/**
 * Uses of one group may run at the same time; the groups run one after the other. Uses that only read share a group; a
 * use with side effects is alone, unless its tool runs together with further uses of itself.
 */
export function groupUses(
  uses: readonly ToolUseBlock[],
  find: (name: string) => Effects | undefined,
): readonly (readonly ToolUseBlock[])[] {
  const groups: ToolUseBlock[][] = [];
  let last: string | null = null;
  for (const use of uses) {
    const kind = kindOf(use, find(use.name));
    if (kind !== null && kind === last) groups.at(-1)?.push(use);
    else groups.push([use]);
    last = kind;
  }
  return groups;
}

/** What a use shares its group by; null for a use that runs alone. A use of an unknown tool is only refused. */
function kindOf({ name }: ToolUseBlock, tool: Effects | undefined): string | null {
  if (tool === undefined || tool.sideEffects === "none" || tool.sideEffects === "read") return "";
  return tool.runsTogether === true ? name : null;
}
