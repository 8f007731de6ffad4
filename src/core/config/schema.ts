// All settings of strata.yaml, and the form in which the program gets them.
import { converted, group, section } from "./sections.ts";
import { agents, type AgentConfig } from "./schema/agents.ts";
import { gateway, type GatewayConfig } from "./schema/gateway.ts";
import { include } from "./schema/include.ts";
import { contextOptimization, type ContextOptimization } from "./schema/context-optimization.ts";
import { mcp, type McpConfig } from "./schema/mcp.ts";
import { models, routing, type ModelsConfig, type RoutingConfig } from "./schema/models.ts";
import { ledger, type LedgerConfig } from "./schema/places.ts";
import { policies, type PoliciesConfig } from "./schema/policies.ts";
import { providers, type ProviderConfig } from "./schema/providers.ts";
import { queue, type QueueConfig } from "./schema/queue.ts";
import { spending, type SpendingConfig } from "./schema/spending.ts";
import { subAgents, type SubAgentsConfig } from "./schema/sub-agents.ts";
import {
  memory,
  skills,
  tools,
  type MemoryConfig,
  type SkillsConfig,
  type ToolsConfig,
} from "./schema/tools.ts";
import { telemetry, type TelemetryConfig } from "./schema/telemetry.ts";
import type { Spec } from "./spec.ts";

/** A configuration in its normal form. */
export interface StrataConfig extends ContextOptimization {
  /** The files that the strongest file includes; their settings are already in here. */
  readonly include: readonly string[];
  readonly agents: ReadonlyMap<string, AgentConfig>;
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  readonly models: ModelsConfig;
  readonly routing: RoutingConfig;
  readonly policies: PoliciesConfig;
  readonly ledger: LedgerConfig;
  readonly memory: MemoryConfig;
  readonly skills: SkillsConfig;
  readonly tools: ToolsConfig;
  readonly mcp: McpConfig;
  readonly subAgents: SubAgentsConfig;
  readonly queue: QueueConfig;
  readonly spending: SpendingConfig;
  readonly gateway: GatewayConfig;
  readonly telemetry: TelemetryConfig;
}

const llm: Spec<ContextOptimization> = section(
  "calls to models",
  { context_optimization: contextOptimization },
  (get) => get("context_optimization"),
);

const parts: Spec<Omit<StrataConfig, keyof ContextOptimization> & Llm> = group(
  "the configuration",
  {
    include,
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
    mcp,
    subAgents,
    queue,
    spending,
    gateway,
    telemetry,
  },
);

interface Llm {
  readonly llm: ContextOptimization;
}

export const schema: Spec<StrataConfig> = converted(parts, ({ llm: optimization, ...rest }) => ({
  ...optimization,
  ...rest,
}));
