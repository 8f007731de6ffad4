// Named toolsets: what a session is granted, in one word; and what a role never gets, whatever it is granted (X-20, S-17).
import type { AgentRole } from "../message/assembled-context.ts";
import { nearestNames } from "../nearest-names.ts";
import { StrataError } from "../strata-error.ts";
import {
  selectTools,
  type LeftTool,
  type OfferedTool,
  type SelectedTools,
} from "./select-tools.ts";

/** What the tools that come with Strata need. Tools of others may need other words. */
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
  /** Only these; every tool that is permitted where it is missing. */
  readonly tools?: readonly string[];
}

const reading = ["files.read", "skills.read"] as const satisfies readonly Permission[];
const writing = [
  ...reading,
  "files.write",
  "memory.write",
  "skills.write",
] as const satisfies readonly Permission[];

/** Each has what the one before it has. */
export const toolsets: readonly Toolset[] = [
  { name: "none", granted: [], tools: [] },
  { name: "read-only", granted: reading },
  { name: "workspace", granted: writing },
  { name: "full", granted: [...writing, "commands.run"] },
];

/** By its name; one of the caller's own comes before one of ours. */
export function findToolset(name: string, own: readonly Toolset[] = []): Toolset {
  const all = [...own, ...toolsets];
  const found = all.find((each) => each.name === name);
  if (found !== undefined) return found;
  const names = all.map((each) => each.name);
  const near = nearestNames(name.slice(0, 64), names, 1)[0];
  throw new StrataError(
    "config-invalid",
    `there is no toolset called ${JSON.stringify(name)}`,
    near === undefined ? `there are ${names.join(", ")}` : `did you mean ${near}?`,
  );
}

export interface ToolsetOffer {
  readonly offered: readonly OfferedTool[];
  readonly toolset: Toolset;
  readonly role: AgentRole;
  readonly order?: "sorted" | "given";
}

/** What a role is told of, with a toolset. Everything left out is named with its reason. */
export function selectFromToolset(offer: ToolsetOffer): SelectedTools {
  const { offered, toolset, role, order = "sorted" } = offer;
  const left: LeftTool[] = [];
  const rest = offered.filter(({ definition: { name } }) => {
    const reason = refusal(name, toolset, role);
    if (reason !== null) left.push({ name, reason });
    return reason === null;
  });
  const selected = selectTools({ offered: rest, granted: toolset.granted, role, order });
  return { tools: selected.tools, left: [...left, ...selected.left] };
}

/** Also when a tool of that name forgets to say so. */
const neverForWorkers: readonly string[] = [
  "memory_add",
  "memory_replace",
  "memory_consolidate",
  "delegate",
];

function refusal(name: string, { name: toolset, tools }: Toolset, role: AgentRole): string | null {
  if (role === "worker" && neverForWorkers.includes(name)) return "not for the role worker";
  if (tools !== undefined && !tools.includes(name)) return `not in the toolset ${toolset}`;
  return null;
}
