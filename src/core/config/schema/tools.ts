// tools, skills and memory: what an agent may do, load and remember. Names as in core/tools, core/skills, core/memory.
import type { JournalLimits } from "../../memory/memory-journal.ts";
import type { MemoryMode, MemoryScope } from "../../memory/memory-view.ts";
import type { ActivationLimits } from "../../skills/activation.ts";
import { choice, flag, optionalChoice, texts, whole } from "../leaves.ts";
import { group, section, written } from "../sections.ts";
import type { Spec } from "../spec.ts";
import { path } from "./places.ts";

export const toolsetNames = ["none", "read-only", "workspace", "full"] as const;

export type ToolsetName = (typeof toolsetNames)[number];

export interface ToolsConfig {
  readonly toolset: ToolsetName;
  /** For the application's own tools, besides the permissions of the toolset. */
  readonly permissions: readonly string[];
  readonly isBashAllowed: boolean;
  /** Side effects that need a confirmation. */
  readonly confirmed: readonly string[];
  readonly limits: ToolLimitsConfig;
}

interface ToolLimitsConfig {
  readonly atOnceMax: number;
  readonly timeoutMs: number;
  readonly longTimeoutMs: number;
  readonly outputBytesMax: number;
}

export interface SkillsConfig extends ActivationLimits {
  /** Null for ~/.strata/skills. */
  readonly globalRoot: string | null;
  readonly indexLengthMax: number;
}

export interface MemoryConfig {
  /** Null for what the policy's layout asks for. */
  readonly mode: MemoryMode | null;
  readonly scope: MemoryScope;
  readonly tools: "three" | "one";
  /** A folder whose USER.md comes before the workspace's; null for none. */
  readonly globalFolder: string | null;
  readonly journal: JournalLimits;
}

const timerMsMax = 2_147_483_647;

const limits: Spec<ToolLimitsConfig> = group("limits of one use of a tool", {
  atOnceMax: whole({ usual: 4, min: 1, max: 64 }, "tools of a session that run at once"),
  timeoutMs: whole({ usual: 60_000, min: 1, max: timerMsMax }, "for most tools"),
  longTimeoutMs: whole(
    { usual: 600_000, min: 1, max: timerMsMax },
    "for tools that run programs or use the network",
  ),
  outputBytesMax: whole({ usual: 50_000, min: 1000 }, "the longest result that the model sees"),
});

export const tools: Spec<ToolsConfig> = group("what an agent may do", {
  toolset: choice(toolsetNames, "workspace", "the tools of an agent"),
  permissions: texts([], "permissions for the application's own tools, besides the toolset's"),
  isBashAllowed: written(
    "bash",
    flag(false, "whether commands may be run; only with the toolset full"),
  ),
  confirmed: written(
    "confirm",
    texts(
      ["execute", "network"],
      "side effects that need a confirmation: read, write, execute, network",
    ),
  ),
  limits,
});

export const skills: Spec<SkillsConfig> = group("skills that an agent can load", {
  globalRoot: path("a folder of skills for every workspace; default: ~/.strata/skills"),
  skillsMax: whole({ usual: 3, min: 0 }, "different skills that a session can load"),
  tokensAdvised: whole({ usual: 10_000, min: 0 }, "above this, the agent is warned once"),
  tokensMax: whole({ usual: 30_000, min: 0 }, "above this, no more skills are loaded"),
  indexLengthMax: written(
    "index_chars_max",
    whole({ usual: 12_000, min: 0 }, "the longest list of skills in the prompt"),
  ),
});

export const memory: Spec<MemoryConfig> = section(
  "what an agent remembers between sessions",
  {
    mode: optionalChoice(
      ["snapshot-delta", "live-tail", "live-system"],
      "where memory is in the prompt, see docs/memory.md; default: snapshot-delta, with the policy metis live-system",
    ),
    scope: choice(["main", "shared"], "main", "shared: MEMORY.md is neither shown nor written"),
    tools: choice(
      ["three", "one"],
      "three",
      "three: memory_add, memory_replace and memory_consolidate; one: the tool memory, which Claude models know (memory_20250818)",
    ),
    user_folder: path("a folder whose USER.md comes before the workspace's"),
    journal_versions_max: whole({ usual: 20, min: 1 }, "earlier versions that are kept for undo"),
    journal_bytes_max: whole({ usual: 262_144, min: 1 }, "the size of all kept versions together"),
  },
  (get) => ({
    mode: get("mode"),
    scope: get("scope"),
    tools: get("tools"),
    globalFolder: get("user_folder"),
    journal: { versionsMax: get("journal_versions_max"), bytesMax: get("journal_bytes_max") },
  }),
);
