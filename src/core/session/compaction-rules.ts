// How a history is shortened, as data, and what follows from it.
import { defaultCompactionSettings, type CompactionSettings } from "../compaction/plan/settings.ts";
import { byHistoryRead, byRunningAgain, type RecallHint } from "../compaction/plan/recall-hint.ts";
import type { Section } from "../layers/section.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { defaultReserves, type Reserves } from "../tokens/budget.ts";
import type { Session } from "./session.ts";

/** Everything has a default: without any of it a history is shortened only where nothing else fits the window. */
export interface CompactionRules {
  readonly settings?: CompactionSettings;
  readonly reserves?: Reserves;
  /** A model of its own for summaries; the session's model by default, behind the prefix it has cached. */
  readonly summariser?: { readonly model: ModelFacts };
}

export function settingsOf(compaction: CompactionRules | undefined): CompactionSettings {
  return compaction?.settings ?? defaultCompactionSettings;
}

export function reservesOf(compaction: CompactionRules | undefined): Reserves {
  return compaction?.reserves ?? defaultReserves;
}

/** Whether the agent can look up what it is no longer shown. */
export function canRecall(session: Pick<Session, "thread">): boolean {
  return hasTool(session, "history_search") && hasTool(session, "history_read");
}

/** How it gets back a result of which it is shown a part, or nothing. */
export function recallHintOf(session: Pick<Session, "thread">): RecallHint {
  return hasTool(session, "history_read") ? byHistoryRead : byRunningAgain;
}

function hasTool({ thread }: Pick<Session, "thread">, wanted: string): boolean {
  return thread.foundation.tools.some(({ name }) => name === wanted);
}

/** Memory is the first thing that goes when there is no room. */
export function isMemory({ layer }: Section): boolean {
  return layer === "memory";
}
