// The settings of one agent: the global ones, replaced by its own; and the models that are named anywhere.
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
  /** Null for none. */
  readonly role: AgentRole | null;
  /** As providers and the catalogue know it; null if none is chosen. */
  readonly model: string | null;
  /** Which setting chose it; null with the model. */
  readonly modelFrom: "agent" | "workspace default" | "global default" | null;
}

/** Called on every turn, so that a change holds from the next one on. An agent that is not configured has the global settings. */
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

/** Resolves an alias; any other name stays as it is. */
export function modelOf({ models }: Pick<StrataConfig, "models">, name: string): string {
  return models.aliases.get(name) ?? name;
}

/** The choice nearest to the agent. */
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

/** Every model that the configuration names, with the path where it does. */
export function namedModels(
  config: StrataConfig,
): readonly (readonly [path: readonly string[], name: string | null])[] {
  const { models, routing, agents, providers, subAgents, compaction } = config;
  return [
    [["models", "default"], models.default],
    [["routing", "workspace_default"], routing.workspaceDefault],
    [["llm", "context_optimization", "compaction", "summarizer_model"], compaction.summarizerModel],
    [["sub_agents", "worker_model"], subAgents.workerModel],
    ...[...models.aliases].map(([name, model]) => [["models", "aliases", name], model] as const),
    ...[...agents].map(([id, { model }]) => [["agents", id, "model"], model] as const),
    ...[...agents].flatMap(([id, { fallback }]) =>
      (fallback ?? []).map((name) => [["agents", id, "fallback"], name] as const),
    ),
    ...routing.fallback.map((name) => [["routing", "fallback"], name] as const),
    ...[...providers].flatMap(([name, { modelNames }]) =>
      [...modelNames.keys()].map((id) => [["providers", name, "model_names", id], id] as const),
    ),
    ...routing.rules.map(({ model }) => [["routing", "rules"], model] as const),
    ...routing.patterns.map(({ model }) => [["routing", "patterns"], model] as const),
  ];
}
