// Which event moves which metrics.
import type { StrataEvent } from "../../core/events/event.ts";
import {
  foldCompaction,
  foldMemory,
  foldSkill,
  foldToolEnd,
  foldToolNamed,
  foldTurnEnd,
} from "./fold-agents.ts";
import { foldCallCompleted, foldCallFailed, foldCallStarted, foldMiss } from "./fold-calls.ts";
import type { FoldContext } from "./fold-context.ts";

/** Types without a fold of their own count in `strata_events_total` only. */
export function foldEvent(event: StrataEvent, context: FoldContext): void {
  switch (event.type) {
    case "llm.call_started":
      return foldCallStarted(event, context);
    case "llm.call_completed":
      return foldCallCompleted(event, context);
    case "llm.call_failed":
      return foldCallFailed(event, context);
    case "cache.miss":
      return foldMiss(event, context);
    case "turn.completed":
    case "turn.failed":
    case "turn.cancelled":
    case "turn.interrupted":
    case "turn.abandoned":
      return foldTurnEnd(event, context);
    case "tool.called":
    case "tool.confirmation_requested":
      return foldToolNamed(event, context);
    case "tool.completed":
    case "tool.failed":
      return foldToolEnd(event, context);
    case "memory.updated":
    case "memory.eviction":
      return foldMemory(event, context);
    case "skill.loaded":
    case "skill.search":
    case "skill.modified":
      return foldSkill(event, context);
    case "compaction.completed":
    case "compaction.failed":
    case "compaction.skipped":
      return foldCompaction(event, context);
    case "session.created":
    case "session.resumed":
    case "session.ended":
    case "session.forked":
    case "session.archived":
    case "session.deleted":
    case "turn.started":
    case "turn.resumed":
    case "route.decided":
    case "tool.input_invalid":
    case "tool.confirmation_resolved":
    case "compaction.started":
  }
}
