// Events for tests: the n-th of a session, with an id that grows with n.
import { completeEvent, type StrataEvent } from "../../../src/core/events/event.ts";
import { startMs } from "../test-kit.ts";

export function newEvent(
  sessionId: string,
  n: number,
  more: { readonly parentEventId?: string; readonly turnId?: string } = {},
): StrataEvent {
  return completeEvent(
    {
      sessionId,
      type: "session.resumed",
      payload: { workspace_hash: "0".repeat(64), last_event_id_at_resume: null },
      ...more,
    },
    { id: eventId(n), timestampUs: startMs * 1000 + n },
  );
}

/** One that retention spares: it says what was done for good. */
export function newAuditEvent(sessionId: string, n: number): StrataEvent {
  return completeEvent(
    {
      sessionId,
      type: "session.forked",
      payload: { from_session_id: "origin", from_turn_id: null },
    },
    { id: eventId(n), timestampUs: startMs * 1000 + n },
  );
}

export function eventId(n: number): string {
  return `01JCQ3Z6VN${String(n).padStart(16, "0")}`;
}
