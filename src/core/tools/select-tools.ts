// Definitions, permission filter: which of the tools on offer an agent is told of, in which order.
import type { AgentRole } from "../message/assembled-context.ts";
import { encodeToolDefinition, type ToolDefinition } from "../message/tool-definition.ts";

export interface OfferedTool {
  readonly definition: ToolDefinition;
  /** Permissions; all of them must be granted. */
  readonly needs: readonly string[];
  /** Who may have it; every role where it is missing. */
  readonly roles?: readonly AgentRole[];
}

export interface ToolOffer {
  readonly offered: readonly OfferedTool[];
  readonly granted: readonly string[];
  readonly role: AgentRole;
  readonly order: "sorted" | "given";
}

export interface SelectedTools {
  /** Copies: whoever changes one does not change what others are given. */
  readonly tools: readonly ToolDefinition[];
  readonly left: readonly LeftTool[];
}

export interface LeftTool {
  readonly name: string;
  readonly reason: string;
}

/**
 * The tools a role may use with what it was granted, each name once. The first of a name wins: a
 * provider refuses a request that has one twice. Sorted is by code units, the same in every locale (C-13).
 */
export function selectTools({ offered, granted, role, order }: ToolOffer): SelectedTools {
  const permissions = new Set(granted);
  const chosen = new Map<string, ToolDefinition>();
  const left: LeftTool[] = [];
  for (const tool of offered) {
    const { name, description, inputSchemaJson } = tool.definition;
    const reason =
      refusal(tool, permissions, role) ?? repetition(tool.definition, chosen.get(name));
    if (reason === null) chosen.set(name, { name, description, inputSchemaJson });
    else left.push({ name, reason });
  }
  const tools = [...chosen.values()];
  return { tools: order === "given" ? tools : tools.toSorted(byName), left };
}

function refusal(
  { needs, roles }: OfferedTool,
  granted: ReadonlySet<string>,
  role: AgentRole,
): string | null {
  if (roles !== undefined && !roles.includes(role)) return `not for the role ${role}`;
  const missing = needs.filter((permission) => !granted.has(permission));
  return missing.length === 0 ? null : `not granted: ${missing.join(", ")}`;
}

function repetition(tool: ToolDefinition, first: ToolDefinition | undefined): string | null {
  if (first === undefined) return null;
  return encodeToolDefinition(tool) === encodeToolDefinition(first)
    ? "offered before"
    : "another tool of this name was offered before";
}

/** Names differ: each is there once. */
function byName(left: ToolDefinition, right: ToolDefinition): number {
  return left.name < right.name ? -1 : 1;
}
