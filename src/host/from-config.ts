// strata.yaml → what an engine is told, for one agent. Asked before every call, so a change holds from the next one on.
import { modelOf, resolveAgent, type ResolvedAgent } from "../core/config/resolve-agent.ts";
import type { StrataConfig } from "../core/config/schema.ts";
import type { DelegationOptions } from "../engine/sub-agents/delegation.ts";
import { findPolicy } from "../core/cache/policies.ts";
import type { Policy } from "../core/cache/policy.ts";
import {
  defaultCompactionSettings,
  type CompactionSettings,
} from "../core/compaction/plan/settings.ts";
import type { CompactionConfig } from "../core/config/schema/compaction.ts";
import type { LayoutConfig } from "../core/config/schema/policies.ts";
import type { SideEffects } from "../core/tools/tool.ts";
import { findToolset, type Toolset } from "../core/tools/toolsets.ts";
import type { EngineConfig } from "../engine/session/engine-config.ts";
import type { WorldSettings } from "../engine/world/world-settings.ts";

export interface ConfigAround extends Omit<
  EngineConfig,
  "model" | "policy" | "compaction" | "routing"
> {
  /** Where nobody chose one. */
  readonly model: string;
}

export function toEngineConfig(
  config: StrataConfig,
  agentId: string,
  around: ConfigAround,
): EngineConfig {
  const resolved = resolveAgent(config, agentId);
  return {
    agent: agentId,
    ...(resolved.role === null ? {} : { role: resolved.role }),
    ...around,
    model: resolved.model ?? modelOf(config, around.model),
    policy: toPolicy(config, agentId),
    routing: toRouting(config, resolved.modelFrom),
    compaction: toCompactionSettings(config.compaction, resolved.compaction),
  };
}

/** With the models that short names stand for. An agent's own model comes before the workspace's. */
function toRouting(
  config: StrataConfig,
  modelFrom: ResolvedAgent["modelFrom"],
): StrataConfig["routing"] {
  const { isSticky, rules, patterns, workspaceDefault } = config.routing;
  const named = <Each extends { readonly model: string }>(each: Each): Each => ({
    ...each,
    model: modelOf(config, each.model),
  });
  return {
    isSticky,
    rules: rules.map(named),
    patterns: patterns.map(named),
    workspaceDefault:
      modelFrom === "agent" || workspaceDefault === null ? null : modelOf(config, workspaceDefault),
  };
}

/** Without markers where prompts are not to be cached; with the layout that is configured in place of its own. */
export function toPolicy(config: StrataConfig, agentId: string): Policy {
  const { promptCache, policy: name } = resolveAgent(config, agentId);
  const policy = findPolicy(promptCache ? name : "none");
  return { ...policy, layout: { ...policy.layout, ...writtenOf(config.policies.layout) } };
}

/** What is not in strata.yaml has its default. */
export function toCompactionSettings(
  { clearing, auto, ...config }: CompactionConfig,
  isEnabled: boolean,
): CompactionSettings {
  const usual = defaultCompactionSettings;
  return {
    ...usual,
    isEnabled,
    compactAtShare: config.compactAtShare,
    timing: config.timing,
    early: config.early,
    tailKeepTokens: config.tailKeepTokens,
    toolResultShareMax: config.toolResultShareMax,
    summaryShape: config.summaryShape,
    mayUseProvider: config.mayUseProvider,
    clearing: { ...usual.clearing, thresholdBytes: clearing.thresholdBytes },
    auto: { ...usual.auto, ...auto },
  };
}

/** Who writes summaries; null for the session's own model. */
export function toSummariserName(config: StrataConfig): string | null {
  const { summarizerModel } = config.compaction;
  return summarizerModel === null ? null : modelOf(config, summarizerModel);
}

/** Who counts prompts before a call; the estimate alone where that is switched off. */
export function toCounterSettings(
  config: StrataConfig,
  agentId: string,
): { readonly backend: string; readonly capacity: number } {
  const isOn = resolveAgent(config, agentId).tokenCounter;
  const { backend, cacheCapacity: capacity } = config.tokenCounter;
  return { backend: isOn ? backend : "local", capacity };
}

/** `skillsRoot`: of skills for every workspace, where nobody names another. */
export function toWorldSettings(
  config: StrataConfig,
  agentId: string,
  { skillsRoot }: { readonly skillsRoot: string },
): WorldSettings {
  const { workspaceCache, toolset: name } = resolveAgent(config, agentId);
  const { memory, skills, tools } = config;
  const { globalFolder, ...shown } = memory;
  const toolset: Toolset = findToolset(name);
  return {
    documents: { isKept: workspaceCache },
    memory: {
      ...shown,
      layout: toPolicy(config, agentId).layout,
      ...(globalFolder === null ? {} : { userFolder: globalFolder }),
    },
    skills: {
      limits: {
        skillsMax: skills.skillsMax,
        tokensAdvised: skills.tokensAdvised,
        tokensMax: skills.tokensMax,
      },
      globalRoot: skills.globalRoot ?? skillsRoot,
      indexLengthMax: skills.indexLengthMax,
    },
    tools: {
      toolset: { ...toolset, granted: [...toolset.granted, ...tools.permissions] },
      allowBash: tools.isBashAllowed,
      confirmed: tools.confirmed.filter(isEffect),
      limits: tools.limits,
    },
  };
}

function writtenOf(layout: LayoutConfig): Partial<Policy["layout"]> {
  const { volatile, padding, toolOrder } = layout;
  return {
    ...(volatile === null ? {} : { volatile }),
    ...(padding === null ? {} : { padding }),
    ...(toolOrder === null ? {} : { toolOrder }),
  };
}

const effects: readonly string[] = ["none", "read", "write", "execute", "network"];

/** The configuration was checked when it was read. */
function isEffect(name: string): name is SideEffects {
  return effects.includes(name);
}

/** Without what only an application can give: toolsets of its own, environments, who is told. */
export function toDelegationOptions(config: StrataConfig): DelegationOptions {
  const { subAgents } = config;
  const { isEnabled, isNested: nested, workerModel, ...limits } = subAgents;
  const model = workerModel === null ? {} : { model: modelOf(config, workerModel) };
  return { isEnabled, nested, ...limits, ...model };
}
