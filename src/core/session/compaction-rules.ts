// The rules for shortening a history, as data.
import { defaultCompactionSettings, type CompactionSettings } from "../compaction/plan/settings.ts";
import { byHistoryRead, byRunningAgain, type RecallHint } from "../compaction/plan/recall-hint.ts";
import type { Section } from "../layers/section.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { defaultReserves, type Reserves } from "../tokens/budget.ts";
import type { Session } from "./session.ts";

/** Everything has a default. By default a history is shortened only when it does not fit the window. */
export interface CompactionRules {
  readonly settings?: CompactionSettings;
  readonly reserves?: Reserves;
  /** A separate model for summaries. By default the session's model writes them and reads its cached prefix. */
  readonly summariser?: { readonly model: ModelFacts };
}

export function settingsOf(compaction: CompactionRules | undefined): CompactionSettings {
  return compaction?.settings ?? defaultCompactionSettings;
}

export function reservesOf(compaction: CompactionRules | undefined): Reserves {
  return compaction?.reserves ?? defaultReserves;
}

/** Whether the agent can look up hidden messages. */
export function canRecall(session: Pick<Session, "thread">): boolean {
  return hasTool(session, "history_search") && hasTool(session, "history_read");
}

/** How the agent gets back a result that was cut or cleared. */
export function recallHintOf(session: Pick<Session, "thread">): RecallHint {
  return hasTool(session, "history_read") ? byHistoryRead : byRunningAgain;
}

function hasTool({ thread }: Pick<Session, "thread">, wanted: string): boolean {
  return thread.foundation.tools.some(({ name }) => name === wanted);
}

/** Memory leaves the prompt first when there is no room. */
export function isMemory({ layer }: Section): boolean {
  return layer === "memory";
}
