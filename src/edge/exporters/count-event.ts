// Which event moves which metrics.
import type { StrataEvent } from "../../core/events/event.ts";
import {
  countCompaction,
  countMemory,
  countSkill,
  countToolEnd,
  countToolNamed,
  countTurnEnd,
} from "./count-agents.ts";
import {
  countCallCompleted,
  countCallFailed,
  countCallStarted,
  countMiss,
  countWarmed,
} from "./count-calls.ts";
import type { CountContext } from "./count-context.ts";

/** Types without a metric of their own count in `strata_events_total` only. */
export function countEvent(event: StrataEvent, context: CountContext): void {
  switch (event.type) {
    case "llm.call_started":
      return countCallStarted(event, context);
    case "llm.call_completed":
      return countCallCompleted(event, context);
    case "llm.call_failed":
      return countCallFailed(event, context);
    case "cache.miss":
      return countMiss(event, context);
    case "cache.warmed":
      return countWarmed(event, context);
    case "turn.completed":
    case "turn.failed":
    case "turn.cancelled":
    case "turn.interrupted":
    case "turn.abandoned":
      return countTurnEnd(event, context);
    case "tool.called":
    case "tool.confirmation_requested":
      return countToolNamed(event, context);
    case "tool.completed":
    case "tool.failed":
      return countToolEnd(event, context);
    case "memory.updated":
    case "memory.eviction":
      return countMemory(event, context);
    case "skill.loaded":
    case "skill.search":
    case "skill.modified":
      return countSkill(event, context);
    case "compaction.completed":
    case "compaction.failed":
    case "compaction.skipped":
      return countCompaction(event, context);
    case "session.created":
    case "session.resumed":
    case "session.ended":
    case "session.forked":
    case "session.archived":
    case "session.deleted":
    case "queue.dropped":
    case "turn.started":
    case "turn.resumed":
    case "route.decided":
    case "spending.cap_reached":
    case "tool.input_invalid":
    case "tool.confirmation_resolved":
    case "compaction.started":
    case "memory.unreadable":
  }
}
