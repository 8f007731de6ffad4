// Which event moves which metrics.
import type { StrataEvent } from "../../core/events/event.ts";
import * as agents from "./count-agents.ts";
import * as calls from "./count-calls.ts";
import type { CountContext } from "./count-context.ts";

/** Types without a metric of their own count in `strata_events_total` only. */
export function countEvent(event: StrataEvent, context: CountContext): void {
  switch (event.type) {
    case "llm.call_started":
      return calls.countCallStarted(event, context);
    case "llm.call_completed":
      return calls.countCallCompleted(event, context);
    case "llm.call_failed":
      return calls.countCallFailed(event, context);
    case "cache.miss":
      return calls.countMiss(event, context);
    case "cache.warmed":
      return calls.countWarmed(event, context);
    case "turn.completed":
    case "turn.failed":
    case "turn.cancelled":
    case "turn.interrupted":
    case "turn.abandoned":
      return agents.countTurnEnd(event, context);
    case "tool.called":
    case "tool.confirmation_requested":
      return agents.countToolNamed(event, context);
    case "tool.completed":
    case "tool.failed":
      return agents.countToolEnd(event, context);
    case "memory.updated":
    case "memory.eviction":
      return agents.countMemory(event, context);
    case "skill.loaded":
    case "skill.search":
    case "skill.modified":
      return agents.countSkill(event, context);
    case "compaction.completed":
    case "compaction.failed":
    case "compaction.skipped":
      return agents.countCompaction(event, context);
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
