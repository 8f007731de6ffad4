// Named toolsets: a session's permissions in one word.
import type { AgentRole } from "../message/assembled-context.ts";
import { didYouMean, nearestNames } from "../nearest-names.ts";
import { StrataError } from "../strata-error.ts";
import { chooseTools, type LeftTool, type OfferedTool } from "./select-tools.ts";

/** The permissions that Strata's own tools need. Other tools may need others. */
export type Permission =
  | "files.read"
  | "files.write"
  | "memory.write"
  | "skills.read"
  | "skills.write"
  | "commands.run";

export interface Toolset {
  readonly name: string;
  readonly granted: readonly string[];
  /** Only these tools. Missing means every permitted tool. */
  readonly tools?: readonly string[];
}

const reading = ["files.read", "skills.read"] as const satisfies readonly Permission[];
const writing = [
  ...reading,
  "files.write",
  "memory.write",
  "skills.write",
] as const satisfies readonly Permission[];

/** Each set includes the one before it. */
export const toolsets: readonly Toolset[] = [
  { name: "none", granted: [], tools: [] },
  { name: "read-only", granted: reading },
  { name: "workspace", granted: writing },
  { name: "full", granted: [...writing, "commands.run"] },
];

/** Finds a toolset by name. The caller's own come before ours. */
export function findToolset(name: string, own: readonly Toolset[] = []): Toolset {
  const all = [...own, ...toolsets];
  const found = all.find((each) => each.name === name);
  if (found !== undefined) return found;
  const names = all.map((each) => each.name);
  throw new StrataError(
    "config-invalid",
    `there is no toolset called ${JSON.stringify(name)}`,
    didYouMean(name, names, `there are ${names.join(", ")}`, 1),
  );
}

export interface ToolsetOffer {
  readonly offered: readonly OfferedTool[];
  readonly toolset: Toolset;
  readonly role: AgentRole;
}

/** What a session opens with: only the tools it may use. */
export interface RoleTools {
  /** The name of the toolset; absent if no toolset chose them. */
  readonly toolset?: string;
  /** Sorted by name. */
  readonly tools: readonly OfferedTool[];
  readonly permissions: readonly string[];
  readonly toolsLeft: readonly LeftTool[];
}

/** Names every omitted or unavailable tool, with the reason. */
export function selectFromToolset({ offered, toolset, role }: ToolsetOffer): RoleTools {
  const isWanted = ({ definition }: OfferedTool): boolean =>
    toolset.tools?.includes(definition.name) !== false;
  const { granted } = toolset;
  const wanted = offered.filter(isWanted);
  const { chosen, left } = chooseTools({ offered: wanted, granted, role, order: "sorted" });
  return {
    toolset: toolset.name,
    tools: chosen,
    permissions: [...new Set(granted)],
    toolsLeft: [
      ...offered
        .filter((tool) => !isWanted(tool))
        .map(({ definition: { name } }) => ({
          name,
          reason: `not in the toolset ${toolset.name}`,
        })),
      ...left,
      ...missingFrom(
        toolset,
        offered.map(({ definition }) => definition.name),
      ),
    ],
  };
}

function missingFrom(
  { name: toolset, tools = [] }: Toolset,
  offered: readonly string[],
): LeftTool[] {
  return tools
    .filter((name) => !offered.includes(name))
    .map((name) => {
      const [near] = nearestNames(name.slice(0, 64), offered, 1);
      const hint = near === undefined ? "" : `; did you mean ${near}?`;
      return { name, reason: `in the toolset ${toolset}, and no tool is called that${hint}` };
    });
}
