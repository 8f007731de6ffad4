// strata.yaml → what sessions may ask of sub-agents.
import { modelOf } from "../core/config/resolve-agent.ts";
import type { StrataConfig } from "../core/config/schema.ts";
import type { DelegationOptions } from "../engine/sub-agents/delegation.ts";

/** Without what only an application can give: toolsets of its own, environments, who is told. */
export function toDelegationOptions(config: StrataConfig): DelegationOptions {
  const { subAgents } = config;
  const { isEnabled, isNested: nested, workerModel, ...limits } = subAgents;
  const model = workerModel === null ? {} : { model: modelOf(config, workerModel) };
  return { isEnabled, nested, ...limits, ...model };
}
