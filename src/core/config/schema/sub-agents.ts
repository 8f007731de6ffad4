// sub_agents: whether an agent may give tasks to others, and what they may take. Names as in engine/sub-agent.
import { flag, text, whole } from "../leaves.ts";
import { ownOnly, section } from "../sections.ts";
import type { Spec } from "../spec.ts";

export interface SubAgentsConfig {
  readonly isEnabled: boolean;
  readonly isNested: boolean;
  readonly depthMax: number;
  readonly atOnceMax: number;
  /** Null for the model of whoever asks. */
  readonly workerModel: string | null;
  readonly reportCharactersMax: number;
  readonly timeoutMs: number;
}

export const subAgents: Spec<SubAgentsConfig> = ownOnly(
  section(
    "tasks that an agent gives to others",
    {
      enabled: flag(false, "whether an agent may give tasks to workers and forks of its own"),
      nested: flag(false, "whether those may give tasks in turn"),
      depth_max: whole({ usual: 3, min: 1, max: 100 }, "how deep, where they may"),
      at_once_max: whole({ usual: 4, min: 1, max: 64 }, "of one session that run side by side"),
      worker_model: text("the model of workers; that of whoever asks without it"),
      report_chars_max: whole(
        { usual: 20_000, min: 100, max: 200_000 },
        "of a report as whoever asked is shown it; the rest can be read on",
      ),
      timeout_seconds: whole({ usual: 3600, min: 1, max: 2_147_483 }, "one that takes longer ends"),
    },
    (get) => ({
      isEnabled: get("enabled"),
      isNested: get("nested"),
      depthMax: get("depth_max"),
      atOnceMax: get("at_once_max"),
      workerModel: get("worker_model"),
      reportCharactersMax: get("report_chars_max"),
      timeoutMs: get("timeout_seconds") * 1000,
    }),
  ),
);
