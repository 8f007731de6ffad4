// agents.<id>: what one agent does differently. Of context_optimization only the four switches.
import { agentRoles, type AgentRole } from "../../message/assembled-context.ts";
import { optionalChoice, optionalFlag, text } from "../leaves.ts";
import { named, ownOnly, section } from "../sections.ts";
import type { Spec } from "../spec.ts";
import { policyNames, type PolicyName } from "../../cache/policy.ts";
import { toolsetNames, type ToolsetName } from "./tools.ts";

export interface AgentConfig {
  readonly model: string | null;
  readonly policy: PolicyName | null;
  readonly toolset: ToolsetName | null;
  /** Null for none. */
  readonly role: AgentRole | null;
  readonly switches: AgentSwitches;
}

/** Null to inherit. */
export interface AgentSwitches {
  readonly promptCache: boolean | null;
  readonly compaction: boolean | null;
  readonly tokenCounter: boolean | null;
  readonly workspaceCache: boolean | null;
}

const switches: Spec<AgentSwitches> = section(
  "what is on or off for this agent; what is missing holds as for all",
  {
    prompt_cache: optionalFlag("whether cache markers are placed"),
    compaction: optionalFlag("whether histories are compacted before the window is full"),
    token_counter: optionalFlag("whether a provider is asked for exact counts"),
    workspace_cache: optionalFlag("whether documents are kept between turns"),
  },
  (get) => ({
    promptCache: get("prompt_cache"),
    compaction: get("compaction"),
    tokenCounter: get("token_counter"),
    workspaceCache: get("workspace_cache"),
  }),
);

const agent: Spec<AgentConfig> = section(
  "one agent",
  {
    model: text("its model; models.default without it"),
    policy: optionalChoice(policyNames, "its cache policy; policies.default without it"),
    toolset: ownOnly(optionalChoice(toolsetNames, "its tools; tools.toolset without it")),
    role: optionalChoice(
      agentRoles,
      "its role, whose rules are part of the prompt; none without it",
    ),
    context_optimization: switches,
  },
  (get) => ({
    model: get("model"),
    policy: get("policy"),
    toolset: get("toolset"),
    role: get("role"),
    switches: get("context_optimization"),
  }),
);

export const agents: Spec<ReadonlyMap<string, AgentConfig>> = named(
  "agents by id: a map, or a list whose items have an id",
  agent,
);
