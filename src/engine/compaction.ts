// How an agent's history is shortened: what an application may say about it.
import type { Section } from "../core/layers/section.ts";
import {
  defaultCompactionSettings,
  type CompactionSettings,
} from "../core/compaction/plan/settings.ts";
import type { SkillActivationRegistry } from "../core/skills/skill-registry.ts";
import { byHistoryRead, byRunningAgain, type TellHow } from "../core/compaction/plan/tell-how.ts";
import { defaultReserves, type Reserves } from "../core/tokens/budget.ts";
import type { FoundationSetup } from "./session-foundation.ts";
import type { Session } from "./session.ts";
import type { Summariser } from "./summarise-transcript.ts";

/** Everything has a default: without any of it the history is folded only where nothing else fits the window. */
export interface Compaction {
  readonly settings?: CompactionSettings;
  readonly reserves?: Reserves;
  /** A model of its own for summaries; the session's model by default, behind the prefix it has cached. */
  readonly summariser?: Summariser;
  /**
   * What tools and system text are made of by now, such as memory that changed since; null to leave them. Asked at
   * every fold, where the cache breaks anyway.
   */
  readonly refresh?: () => Promise<FoundationSetup | null>;
  /** Skills whose bodies a fold takes away can be loaded again (C-10). */
  readonly skills?: Pick<SkillActivationRegistry, "state" | "releaseFolded">;
  /** Waits between attempts at a summary. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export function settingsOf(compaction: Compaction | undefined): CompactionSettings {
  return compaction?.settings ?? defaultCompactionSettings;
}

export function reservesOf(compaction: Compaction | undefined): Reserves {
  return compaction?.reserves ?? defaultReserves;
}

/** Whether the agent can look up what it is no longer shown. */
export function canRecall(session: Pick<Session, "thread">): boolean {
  return hasTool(session, "history_search") && hasTool(session, "history_read");
}

/** How it gets back a result of which it is shown a part, or nothing. */
export function tellHowOf(session: Pick<Session, "thread">): TellHow {
  return hasTool(session, "history_read") ? byHistoryRead : byRunningAgain;
}

function hasTool({ thread }: Pick<Session, "thread">, wanted: string): boolean {
  return thread.foundation.tools.some(({ name }) => name === wanted);
}

/** Memory is the first thing that goes when there is no room. */
export function isMemory({ layer }: Section): boolean {
  return layer === "memory";
}
