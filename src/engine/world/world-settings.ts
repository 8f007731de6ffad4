// Settings of a session's world: memory, skills, tools, documents. Everything has a default.
import type { AgentProfile } from "../../core/layers/agent-profile.ts";
import type { Layout } from "../../core/assembly/layout.ts";
import type { JournalLimits } from "../../core/memory/memory-journal.ts";
import type { MemoryMode, MemoryScope } from "../../core/memory/memory-view.ts";
import type { ActivationLimits } from "../../core/skills/activation.ts";
import type { SideEffects } from "../../core/tools/tool.ts";
import type { Toolset } from "../../core/tools/toolsets.ts";
import type { DispatchLimits } from "../../edge/tools/dispatch/dispatch-options.ts";

export interface WorldSettings {
  /** What the agent is told about itself, its work and its people. */
  readonly profile?: AgentProfile;
  readonly documents?: {
    /** Whether documents may come from a cache while no file changed. */
    readonly isKept: boolean;
  };
  readonly memory?: MemorySettings;
  readonly skills?: SkillSettings;
  readonly tools?: ToolSettings;
}

/** Changes hold for new sessions, and from the next compaction on. */
export interface MemorySettings {
  /** What the layout asks for by default. */
  readonly mode?: MemoryMode;
  /** Also the scope of documents: a shared session does not show MEMORY.md. */
  readonly scope?: MemoryScope;
  /** Three of Strata, or the one that Claude models know; three by default. */
  readonly tools?: "three" | "one";
  /** A folder whose USER.md comes before the workspace's. */
  readonly userFolder?: string;
  /** The policy's layout; `live-system` needs volatile text at system-tail. */
  readonly layout?: Pick<Layout, "volatile" | "volatileText">;
  readonly journal?: JournalLimits;
}

/** Changes hold for new sessions; the list's length also from the next compaction on. */
export interface SkillSettings {
  /** A folder of skills for every workspace. */
  readonly globalRoot?: string;
  /** Only these skills can be seen and loaded; all by default. */
  readonly only?: readonly string[];
  readonly limits?: Partial<ActivationLimits>;
  /** Longest list of skills in the prompt, in characters. */
  readonly indexLengthMax?: number;
}

/** Changes hold from the next use on; the model's tool list changes at the next compaction. */
export interface ToolSettings {
  /** `workspace` by default. */
  readonly toolset?: Toolset;
  /** Whether commands may be run, where the toolset permits them. */
  readonly allowBash?: boolean;
  /** Side effects that need a confirmation; execute and network by default. */
  readonly confirmed?: readonly SideEffects[];
  readonly limits?: Partial<DispatchLimits>;
}
