// sub_agents: whether an agent may start sub-agents, and their limits. Names as in engine/sub-agents.
import { flag, text, whole } from "../leaves.ts";
import { converted, group, written } from "../sections.ts";
import type { Spec } from "../spec.ts";

export interface SubAgentsConfig {
  readonly isEnabled: boolean;
  readonly isNested: boolean;
  readonly depthMax: number;
  readonly atOnceMax: number;
  /** Null for the model of the agent that starts them. */
  readonly workerModel: string | null;
  readonly reportCharactersMax: number;
  readonly timeoutMs: number;
}

export const subAgents: Spec<SubAgentsConfig> = group("tasks that an agent gives to sub-agents", {
  isEnabled: written("enabled", flag(false, "whether an agent may start workers and forks")),
  isNested: written("nested", flag(false, "whether sub-agents may start others")),
  depthMax: whole({ usual: 3, min: 1, max: 100 }, "the deepest nesting, with nested: true"),
  atOnceMax: whole({ usual: 4, min: 1, max: 64 }, "sub-agents of one session that run at once"),
  workerModel: text("the model of workers; default: the model of the agent that starts them"),
  reportCharactersMax: written(
    "report_chars_max",
    whole(
      { usual: 20_000, min: 100, max: 200_000 },
      "the part of a report that is shown at first; the agent can read on",
    ),
  ),
  timeoutMs: written(
    "timeout_seconds",
    converted(
      whole({ usual: 3600, min: 1, max: 2_147_483 }, "a sub-agent that takes longer is ended"),
      (seconds) => seconds * 1000,
    ),
  ),
});
