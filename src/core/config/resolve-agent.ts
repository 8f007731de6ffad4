// What holds for one agent in this turn: the global settings with its own in their place.
import type { AgentRole } from "../message/assembled-context.ts";
import type { StrataConfig } from "./schema.ts";
import type { PolicyName } from "../cache/policy.ts";
import type { ToolsetName } from "./schema/tools.ts";

export interface ResolvedAgent {
  readonly promptCache: boolean;
  readonly compaction: boolean;
  readonly tokenCounter: boolean;
  readonly workspaceCache: boolean;
  readonly policy: PolicyName;
  readonly toolset: ToolsetName;
  /** Null where none was asked for. */
  readonly role: AgentRole | null;
  /** As providers and the catalogue know it; null where nobody chose one. */
  readonly model: string | null;
  /** Whose choice that is; null with the model. */
  readonly modelFrom: "agent" | "workspace default" | "global default" | null;
}

/** Asked on every turn, so that a change holds from the next one on. An agent nobody named has what all have. */
export function resolveAgent(config: StrataConfig, agentId: string): ResolvedAgent {
  const own = config.agents.get(agentId);
  return {
    promptCache: own?.switches.promptCache ?? config.promptCache.isEnabled,
    compaction: own?.switches.compaction ?? config.compaction.isEnabled,
    tokenCounter: own?.switches.tokenCounter ?? config.tokenCounter.isEnabled,
    workspaceCache: own?.switches.workspaceCache ?? config.workspaceCache.isEnabled,
    policy: own?.policy ?? config.policies.default,
    toolset: own?.toolset ?? config.tools.toolset,
    role: own?.role ?? null,
    ...findModel(config, own?.model ?? null),
  };
}

/** What an alias stands for; any other name as it is. */
export function modelOf({ models }: Pick<StrataConfig, "models">, name: string): string {
  return models.aliases.get(name) ?? name;
}

/** The nearest one to the agent that somebody chose. */
function findModel(
  config: StrataConfig,
  own: string | null,
): Pick<ResolvedAgent, "model" | "modelFrom"> {
  const { models, routing } = config;
  if (own !== null) return { model: modelOf(config, own), modelFrom: "agent" };
  if (routing.workspaceDefault !== null) {
    return { model: modelOf(config, routing.workspaceDefault), modelFrom: "workspace default" };
  }
  if (models.default === null) return { model: null, modelFrom: null };
  return { model: modelOf(config, models.default), modelFrom: "global default" };
}
