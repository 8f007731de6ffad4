// strata.yaml → the engine's configuration for one agent. Read before every call, so a change holds from the next call on.
import { mcpPermission } from "../../edge/tools/mcp/remote-tool.ts";
import { modelOf, resolveAgent, type ResolvedAgent } from "../../core/config/resolve-agent.ts";
import { resolveProfile } from "../../core/config/resolve-profile.ts";
import { toAgentCalls } from "./agent-calls.ts";
import type { StrataConfig } from "../../core/config/schema.ts";
import type { DelegationOptions } from "../../engine/sub-agents/delegation.ts";
import { findPolicy } from "../../core/cache/policies.ts";
import type { Policy } from "../../core/cache/policy.ts";
import {
  defaultCompactionSettings,
  type CompactionSettings,
} from "../../core/compaction/plan/settings.ts";
import type { CompactionConfig } from "../../core/config/schema/compaction.ts";
import { onlyPresent } from "../../core/message/fields.ts";
import type { SideEffects } from "../../core/tools/tool.ts";
import { findToolset, type Toolset } from "../../core/tools/toolsets.ts";
import type { EngineConfig } from "../../engine/session/engine-config.ts";
import type { WorldSettings } from "../../engine/world/world-settings.ts";
import { isTimezone } from "../../engine/session/check-input.ts";
import { StrataError } from "../../core/strata-error.ts";

export interface ConfigAround extends Omit<
  EngineConfig,
  "model" | "policy" | "compaction" | "routing" | "queue" | "spending"
> {
  /** The default model. */
  readonly model: string;
  /** The binding that was asked for; the agent's default by default. */
  readonly binding?: string | undefined;
}

export function toEngineConfig(
  config: StrataConfig,
  agentId: string,
  { binding, options, ...around }: ConfigAround,
): EngineConfig {
  const resolved = resolveAgent(config, agentId);
  const { moment } = resolveProfile(config, agentId, binding ?? null);
  const { keepWarm, storedPrefix } = config.policies;
  return {
    agent: agentId,
    ...(resolved.role === null ? {} : { role: resolved.role }),
    ...toAgentCalls(config.agents.get(agentId), options),
    ...(Object.keys(moment).length === 0 ? {} : { moment }),
    ...(keepWarm.usdPerHour !== null && { keepWarm: { usdPerHour: keepWarm.usdPerHour } }),
    ...(storedPrefix.usdPerHour !== null && {
      storedPrefix: { usdPerHour: storedPrefix.usdPerHour },
    }),
    ...around,
    model: resolved.model ?? modelOf(config, around.model),
    policy: toPolicy(config, agentId),
    routing: toRouting(config, agentId, resolved.modelFrom),
    compaction: toCompactionSettings(config.compaction, resolved.compaction),
    queue: config.queue,
    ...toSpending(config, agentId),
  };
}

/** An agent's own caps come before those for all. */
export function toSpending(config: StrataConfig, agentId: string): Pick<EngineConfig, "spending"> {
  const { spending } = config;
  const own = config.agents.get(agentId)?.spending;
  const [sessionUsd, agentUsd] = [
    own?.sessionUsd ?? spending.sessionUsd,
    own?.agentUsd ?? spending.agentUsd,
  ];
  const { dayUsd, timezone } = spending;
  if (timezone !== null && !isTimezone(timezone)) throw noTimezone(timezone);
  const caps = onlyPresent({ sessionUsd, agentUsd, dayUsd, timezone });
  return Object.keys(caps).length === 0 ? {} : { spending: caps };
}

/** Resolves aliases. An agent's own model comes before the workspace's. */
function toRouting(
  config: StrataConfig,
  agentId: string,
  modelFrom: ResolvedAgent["modelFrom"],
): StrataConfig["routing"] {
  const { rules, patterns, workspaceDefault } = config.routing;
  const fallback = config.agents.get(agentId)?.fallback ?? config.routing.fallback;
  const named = <Each extends { readonly model: string }>(each: Each): Each => ({
    ...each,
    model: modelOf(config, each.model),
  });
  return {
    ...config.routing,
    rules: rules.map(named),
    patterns: patterns.map(named),
    fallback: fallback.map((name) => modelOf(config, name)),
    workspaceDefault:
      modelFrom === "agent" || workspaceDefault === null ? null : modelOf(config, workspaceDefault),
  };
}

/** The configured policy: without markers if caching is off, and with the configured layout. */
export function toPolicy(config: StrataConfig, agentId: string): Policy {
  const { promptCache, policy: name } = resolveAgent(config, agentId);
  const policy = findPolicy(promptCache ? name : "none");
  return { ...policy, layout: { ...policy.layout, ...onlyPresent(config.policies.layout) } };
}

/** Settings that strata.yaml does not have keep their defaults. */
export function toCompactionSettings(
  config: CompactionConfig,
  isEnabled: boolean,
): CompactionSettings {
  const usual = defaultCompactionSettings;
  const { summarizerModel: _, clearing, auto, ...settings } = config;
  return {
    ...usual,
    ...settings,
    isEnabled,
    clearing: { ...usual.clearing, thresholdBytes: clearing.thresholdBytes },
    auto: { ...usual.auto, ...auto },
  };
}

/** The model for summaries; null for the session's own. */
export function toSummariserName(config: StrataConfig): string | null {
  const { summarizerModel } = config.compaction;
  return summarizerModel === null ? null : modelOf(config, summarizerModel);
}

/** The counter for prompts; only the estimate if exact counting is off. */
export function toCounterSettings(
  config: StrataConfig,
  agentId: string,
): { readonly backend: string; readonly capacity: number } {
  const isOn = resolveAgent(config, agentId).tokenCounter;
  const { backend, cacheCapacity: capacity } = config.tokenCounter;
  return { backend: isOn ? backend : "local", capacity };
}

/** `skillsRoot`: the default folder of skills for every workspace. */
export function toWorldSettings(
  config: StrataConfig,
  agentId: string,
  { skillsRoot, binding }: { readonly skillsRoot: string; readonly binding?: string | undefined },
): WorldSettings {
  const { workspaceCache, toolset: name } = resolveAgent(config, agentId);
  const { memory, skills, tools } = config;
  const { globalFolder: userFolder, mode, ...shown } = memory;
  const { globalRoot, indexLengthMax, ...limits } = skills;
  const toolset: Toolset = findToolset(name);
  const resolved = resolveProfile(config, agentId, binding ?? null);
  const granted = [
    ...toolset.granted,
    ...(grantsServers(name) ? [...config.mcp.keys()].map(mcpPermission) : []),
    ...tools.permissions,
    ...resolved.permissions,
  ];
  const isListed = (config.agents.get(agentId)?.permissions ?? null) !== null;
  return {
    profile: { ...resolved.profile, ...(isListed ? { permissions: granted } : {}) },
    documents: { isKept: workspaceCache },
    memory: {
      ...shown,
      ...onlyPresent({ mode, userFolder }),
      layout: toPolicy(config, agentId).layout,
    },
    skills: {
      limits,
      globalRoot: globalRoot ?? skillsRoot,
      ...(resolved.skills === null ? {} : { only: resolved.skills }),
      indexLengthMax,
    },
    tools: {
      toolset: { ...toolset, granted },
      allowBash: tools.isBashAllowed,
      confirmed: tools.confirmed.filter(isEffect),
      limits: tools.limits,
    },
  };
}

/** An agent that only reads gets a server's tools by the permission `mcp.NAME`. */
function grantsServers(toolset: string): boolean {
  return toolset === "workspace" || toolset === "full";
}

const effects: readonly string[] = ["none", "read", "write", "execute", "network"];

/** The configuration was checked when it was read. */
function isEffect(name: string): name is SideEffects {
  return effects.includes(name);
}

/** The options in strata.yaml. Own toolsets, environments and callbacks come only from an application. */
export function toDelegationOptions(config: StrataConfig): DelegationOptions {
  const { subAgents } = config;
  const { isEnabled, isNested: nested, workerModel, ...limits } = subAgents;
  const model = workerModel === null ? {} : { model: modelOf(config, workerModel) };
  return { isEnabled, nested, ...limits, ...model };
}

function noTimezone(name: string): StrataError {
  return new StrataError(
    "config-invalid",
    `spending.timezone is ${JSON.stringify(name)}, which is no time zone`,
    "name one such as Europe/Berlin, or remove it for UTC",
  );
}
