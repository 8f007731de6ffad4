// Everything strata.yaml can say, and the one form it is given on in.
import { section } from "./sections.ts";
import { agents, type AgentConfig } from "./schema/agents.ts";
import { contextOptimization, type ContextOptimization } from "./schema/context-optimization.ts";
import { models, routing, type ModelsConfig, type RoutingConfig } from "./schema/models.ts";
import { ledger, type LedgerConfig } from "./schema/places.ts";
import { policies, type PoliciesConfig } from "./schema/policies.ts";
import { providers, type ProviderConfig } from "./schema/providers.ts";
import { subAgents, type SubAgentsConfig } from "./schema/sub-agents.ts";
import {
  memory,
  skills,
  tools,
  type MemoryConfig,
  type SkillsConfig,
  type ToolsConfig,
} from "./schema/tools.ts";
import type { Spec } from "./spec.ts";

/** A configuration in its normal form. Plain values; nobody changes them. */
export interface StrataConfig extends ContextOptimization {
  readonly agents: ReadonlyMap<string, AgentConfig>;
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  readonly models: ModelsConfig;
  readonly routing: RoutingConfig;
  readonly policies: PoliciesConfig;
  readonly ledger: LedgerConfig;
  readonly memory: MemoryConfig;
  readonly skills: SkillsConfig;
  readonly tools: ToolsConfig;
  readonly subAgents: SubAgentsConfig;
}

const llm: Spec<ContextOptimization> = section(
  "calls to models",
  { context_optimization: contextOptimization },
  (get) => get("context_optimization"),
);

export const schema: Spec<StrataConfig> = section(
  "the configuration",
  {
    llm,
    agents,
    providers,
    models,
    routing,
    policies,
    ledger,
    memory,
    skills,
    tools,
    sub_agents: subAgents,
  },
  (get) => ({
    ...get("llm"),
    agents: get("agents"),
    providers: get("providers"),
    models: get("models"),
    routing: get("routing"),
    policies: get("policies"),
    ledger: get("ledger"),
    memory: get("memory"),
    skills: get("skills"),
    tools: get("tools"),
    subAgents: get("sub_agents"),
  }),
);
