// What an application may configure about shortening an agent's history.
import type { SkillActivationRegistry } from "../../core/skills/skill-registry.ts";
import type { CompactionRules } from "../../core/session/compaction-rules.ts";
import type { FoundationSetup } from "../../core/session/session-foundation.ts";
import type { Summariser } from "./summarise-transcript.ts";

export interface Compaction extends CompactionRules {
  readonly summariser?: Summariser;
  /**
   * The current inputs for tools and system text, such as changed memory; null to keep the old ones. Called at
   * every compaction, which breaks the cache anyway.
   */
  readonly refresh?: () => Promise<FoundationSetup | null>;
  /** Lets the agent load skills again whose bodies a compaction removed. */
  readonly skills?: Pick<SkillActivationRegistry, "state" | "releaseCompacted">;
  /** Waits between attempts at a summary. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}
