// Definitions, permission filter: which of the offered tools an agent sees, and in which order.
import type { AgentRole } from "../message/assembled-context.ts";
import { encodeToolDefinition, type ToolDefinition } from "../message/tool-definition.ts";

export interface OfferedTool {
  readonly definition: ToolDefinition;
  /** All of these permissions must be granted. */
  readonly needs: readonly string[];
  /** The roles that may have it. Missing means every role. */
  readonly roles?: readonly AgentRole[];
  /** Set for tools that Strata brings. Missing means the user's own. */
  readonly from?: "strata";
}

export interface ToolOffer<Offered extends OfferedTool = OfferedTool> {
  readonly offered: readonly Offered[];
  readonly granted: readonly string[];
  readonly role: AgentRole;
  readonly order: "sorted" | "given";
}

export interface SelectedTools {
  /** Copies, so that changing one does not affect other callers. */
  readonly tools: readonly ToolDefinition[];
  readonly left: readonly LeftTool[];
}

export interface LeftTool {
  readonly name: string;
  readonly reason: string;
}

/** A worker never gets these, even if a tool of that name does not restrict its roles. */
const neverForWorkers: readonly string[] = [
  "memory_add",
  "memory_replace",
  "memory_consolidate",
  "delegate",
];

/**
 * The tools a role may use with its permissions, each name once. The first of a name wins: providers refuse
 * duplicate names. "sorted" is by code unit, the same in every locale.
 */
export function selectTools(offer: ToolOffer): SelectedTools {
  const { chosen, left } = chooseTools(offer);
  const tools = chosen.map(({ definition: { name, description, inputSchemaJson } }) => ({
    name,
    description,
    inputSchemaJson,
  }));
  return { tools, left };
}

/** The same, as offered. */
export function chooseTools<Offered extends OfferedTool>({
  offered,
  granted,
  role,
  order,
}: ToolOffer<Offered>): {
  readonly chosen: readonly Offered[];
  readonly left: readonly LeftTool[];
} {
  const permissions = new Set(granted);
  const byNames = new Map<string, Offered>();
  const left: LeftTool[] = [];
  for (const tool of offered) {
    const { name } = tool.definition;
    const reason = refusal(tool, permissions, role) ?? repetition(tool, byNames.get(name));
    if (reason === null) byNames.set(name, tool);
    else left.push({ name, reason });
  }
  const chosen = [...byNames.values()];
  return { chosen: order === "given" ? chosen : chosen.toSorted(byName), left };
}

function refusal(
  { definition, needs, roles }: OfferedTool,
  granted: ReadonlySet<string>,
  role: AgentRole,
): string | null {
  const isNever = role === "worker" && neverForWorkers.includes(definition.name);
  if (isNever || roles?.includes(role) === false) return `not for the role ${role}`;
  const missing = needs.filter((permission) => !granted.has(permission));
  return missing.length === 0 ? null : `not granted: ${missing.join(", ")}`;
}

function repetition(tool: OfferedTool, first: OfferedTool | undefined): string | null {
  if (first === undefined) return null;
  return encodeToolDefinition(tool.definition) === encodeToolDefinition(first.definition)
    ? "offered before"
    : "another tool of this name was offered before";
}

/** Names are unique here. */
function byName(left: OfferedTool, right: OfferedTool): number {
  return left.definition.name < right.definition.name ? -1 : 1;
}
