// agents.<id>: what differs for one agent. Of context_optimization, only the four switches.
import { policyNames, type PolicyName } from "../../cache/policy.ts";
import { agentRoles, type AgentRole } from "../../message/assembled-context.ts";
import { optionalChoice, optionalFlag, optionalTexts, text } from "../leaves.ts";
import { group, named, written } from "../sections.ts";
import type { Spec } from "../spec.ts";
import { calls, type CallsConfig } from "./agent-calls.ts";
import { profile, type ProfileConfig } from "./agent-profile.ts";
import { agentSpending, type AgentSpending } from "./spending.ts";
import { toolsetNames, type ToolsetName } from "./tools.ts";

export interface AgentConfig extends ProfileConfig, CallsConfig {
  readonly model: string | null;
  readonly policy: PolicyName | null;
  readonly toolset: ToolsetName | null;
  /** Null for none. */
  readonly role: AgentRole | null;
  readonly switches: AgentSwitches;
  /** Null for `routing.fallback`. */
  readonly fallback: readonly string[] | null;
  readonly spending: AgentSpending;
}

/** Null to inherit. */
export interface AgentSwitches {
  readonly promptCache: boolean | null;
  readonly compaction: boolean | null;
  readonly tokenCounter: boolean | null;
  readonly workspaceCache: boolean | null;
}

const switches: Spec<AgentSwitches> = group(
  "what is on or off for this agent; default: as for all",
  {
    promptCache: optionalFlag("whether cache markers are placed"),
    compaction: optionalFlag("whether histories are compacted before the window is full"),
    tokenCounter: optionalFlag("whether a provider is asked for exact counts"),
    workspaceCache: optionalFlag("whether documents are kept between turns"),
  },
);

const agent: Spec<AgentConfig> = group("one agent", {
  model: text("its model; default: models.default"),
  policy: optionalChoice(policyNames, "its cache policy; default: policies.default"),
  toolset: optionalChoice(toolsetNames, "its tools; default: tools.toolset"),
  role: optionalChoice(agentRoles, "its role, whose rules are part of the prompt; default: none"),
  fallback: optionalTexts(
    "models to go on with when its provider fails, in this order; default: routing.fallback",
  ),
  spending: agentSpending,
  switches: written("context_optimization", switches),
  ...profile,
  ...calls,
});

export const agents: Spec<ReadonlyMap<string, AgentConfig>> = named(
  "agents by id: a map, or a list whose items have an id",
  agent,
);
