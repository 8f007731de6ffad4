// tools, skills and memory: what an agent may do, learn and remember. Names as in core/tools, core/skills, core/memory.
import { choice, flag, texts, whole } from "../leaves.ts";
import { ownOnly, section } from "../sections.ts";
import type { Spec } from "../spec.ts";
import { path } from "./places.ts";

export const toolsetNames = ["none", "read-only", "workspace", "full"] as const;

export type ToolsetName = (typeof toolsetNames)[number];

export interface ToolsConfig {
  readonly toolset: ToolsetName;
  /** Beside those of the toolset, for tools of others. */
  readonly permissions: readonly string[];
  readonly isBashAllowed: boolean;
  /** Side effects that somebody is asked about. */
  readonly confirmed: readonly string[];
  readonly limits: ToolLimitsConfig;
}

export interface ToolLimitsConfig {
  readonly atOnceMax: number;
  readonly timeoutMs: number;
  readonly longTimeoutMs: number;
  readonly outputBytesMax: number;
}

export interface SkillsConfig {
  /** Null for ~/.strata/skills. */
  readonly globalRoot: string | null;
  readonly skillsMax: number;
  readonly tokensAdvised: number;
  readonly tokensMax: number;
  readonly indexLengthMax: number;
}

export interface MemoryConfig {
  readonly mode: "snapshot-delta" | "live-tail" | "live-system";
  readonly scope: "main" | "shared";
  /** A folder whose USER.md comes before the workspace's; null for none. */
  readonly globalFolder: string | null;
  readonly journal: { readonly versionsMax: number; readonly bytesMax: number };
}

const limits: Spec<ToolLimitsConfig> = section(
  "limits of one use of a tool",
  {
    at_once_max: whole({ usual: 4, min: 1, max: 64 }, "tools that run at once in a session"),
    timeout_ms: whole({ usual: 60_000, min: 1, max: 2_147_483_647 }, "for most tools"),
    long_timeout_ms: whole(
      { usual: 600_000, min: 1, max: 2_147_483_647 },
      "for tools that run programs or use the network",
    ),
    output_bytes_max: whole({ usual: 50_000, min: 1000 }, "of a result as the model sees it"),
  },
  (get) => ({
    atOnceMax: get("at_once_max"),
    timeoutMs: get("timeout_ms"),
    longTimeoutMs: get("long_timeout_ms"),
    outputBytesMax: get("output_bytes_max"),
  }),
);

export const tools: Spec<ToolsConfig> = ownOnly(
  section(
    "what an agent may do",
    {
      toolset: choice(toolsetNames, "workspace", "which tools an agent has"),
      permissions: texts([], "granted beside those of the toolset, for tools of others"),
      bash: flag(false, "whether commands may be run; only with the toolset full"),
      confirm: texts(
        ["execute", "network"],
        "side effects somebody is asked about: read, write, execute, network",
      ),
      limits,
    },
    (get) => ({
      toolset: get("toolset"),
      permissions: get("permissions"),
      isBashAllowed: get("bash"),
      confirmed: get("confirm"),
      limits: get("limits"),
    }),
  ),
);

export const skills: Spec<SkillsConfig> = section(
  "skills that an agent can load",
  {
    global_root: ownOnly(
      path("a folder of skills for every workspace; ~/.strata/skills without it"),
    ),
    skills_max: whole({ usual: 3, min: 0 }, "different skills that a session loads"),
    tokens_advised: whole({ usual: 10_000, min: 0 }, "beyond this it is said once"),
    tokens_max: whole({ usual: 30_000, min: 0 }, "beyond this no more are loaded"),
    index_chars_max: whole({ usual: 12_000, min: 0 }, "of the list of skills in the prompt"),
  },
  (get) => ({
    globalRoot: get("global_root"),
    skillsMax: get("skills_max"),
    tokensAdvised: get("tokens_advised"),
    tokensMax: get("tokens_max"),
    indexLengthMax: get("index_chars_max"),
  }),
);

export const memory: Spec<MemoryConfig> = section(
  "what an agent remembers between sessions",
  {
    mode: choice(
      ["snapshot-delta", "live-tail", "live-system"],
      "snapshot-delta",
      "where memory stands in the prompt, as docs/memory.md tells",
    ),
    scope: choice(["main", "shared"], "main", "shared: MEMORY.md is neither shown nor written"),
    user_folder: ownOnly(path("a folder whose USER.md comes before the workspace's")),
    journal_versions_max: whole({ usual: 20, min: 1 }, "earlier versions that are kept for undo"),
    journal_bytes_max: whole({ usual: 262_144, min: 1 }, "what they may take"),
  },
  (get) => ({
    mode: get("mode"),
    scope: get("scope"),
    globalFolder: get("user_folder"),
    journal: {
      versionsMax: get("journal_versions_max"),
      bytesMax: get("journal_bytes_max"),
    },
  }),
);
