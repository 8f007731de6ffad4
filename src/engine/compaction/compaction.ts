// How an agent's history is shortened: what an application may say about it.
import type { SkillActivationRegistry } from "../../core/skills/skill-registry.ts";
import type { CompactionRules } from "../../core/session/compaction-rules.ts";
import type { FoundationSetup } from "../../core/session/session-foundation.ts";
import type { Summariser } from "./summarise-transcript.ts";

export interface Compaction extends CompactionRules {
  readonly summariser?: Summariser;
  /**
   * What tools and system text are made of by now, such as memory that changed since; null to leave them. Asked at
   * every compaction, where the cache breaks anyway.
   */
  readonly refresh?: () => Promise<FoundationSetup | null>;
  /** Skills whose bodies a compaction takes away can be loaded again. */
  readonly skills?: Pick<SkillActivationRegistry, "state" | "releaseCompacted">;
  /** Waits between attempts at a summary. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}
