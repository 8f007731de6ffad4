// What a person may set about the world of a session: memory, skills, tools, documents. Everything has a default.
import type { Layout } from "../../core/assembly/layout.ts";
import type { JournalLimits } from "../../core/memory/memory-journal.ts";
import type { MemoryMode, MemoryScope } from "../../core/memory/memory-view.ts";
import type { ActivationLimits } from "../../core/skills/activation.ts";
import type { SideEffects } from "../../core/tools/tool.ts";
import type { Toolset } from "../../core/tools/toolsets.ts";
import type { DispatchLimits } from "../../edge/tools/dispatch/dispatch-options.ts";

export interface WorldSettings {
  readonly documents?: {
    /** Whether they may be those of an earlier reading, as long as no file changed. */
    readonly isKept: boolean;
  };
  readonly memory?: MemorySettings;
  readonly skills?: SkillSettings;
  readonly tools?: ToolSettings;
}

/** Hold for sessions that are opened from now on, and from the next compaction on. */
export interface MemorySettings {
  readonly mode?: MemoryMode;
  /** Also of documents: in a shared session MEMORY.md is not shown. */
  readonly scope?: MemoryScope;
  /** A folder whose USER.md comes before the workspace's. */
  readonly userFolder?: string;
  /** Of the policy; `live-system` needs one with volatile text at system-tail. */
  readonly layout?: Pick<Layout, "volatile">;
  readonly journal?: JournalLimits;
}

/** Hold for sessions that are opened from now on; the length of the list also from the next compaction on. */
export interface SkillSettings {
  /** A folder of skills for every workspace. */
  readonly globalRoot?: string;
  readonly limits?: Partial<ActivationLimits>;
  /** Of the list of skills in the prompt, in characters. */
  readonly indexLengthMax?: number;
}

/** Hold from the next use on; what the model is told of changes at the next compaction. */
export interface ToolSettings {
  /** `workspace` by default. */
  readonly toolset?: Toolset;
  /** Whether commands may be run, where the toolset permits them. */
  readonly allowBash?: boolean;
  /** Side effects somebody is asked about; execute and network by default. */
  readonly confirmed?: readonly SideEffects[];
  readonly limits?: Partial<DispatchLimits>;
}
