// Event ids that increase within each session, even if another node's clock was ahead of ours.
import { createEventIds, type EventIds } from "../../core/events/event-ids.ts";

export interface SessionIds {
  /** Greater than `parent` and than every earlier id of the session. */
  next(sessionId: string, ms: number, parent: string | null): string;
  /** Further ids of the session will be greater than `eventId`. */
  continueAfter(sessionId: string, eventId: string): void;
}

export function createSessionIds(randomBytes: () => Uint8Array): SessionIds {
  const shared = createEventIds();
  // Only sessions ahead of the clock have a generator of their own, and only until the clock catches up: a session
  // from a node with a wrong clock does not move the others.
  const ahead = new Map<string, EventIds>();
  return {
    next: (sessionId, ms, parent) => {
      const id = shared.next(ms, randomBytes());
      const own = ahead.get(sessionId);
      if (own === undefined && (parent === null || parent < id)) return id;
      const floor = own?.last() ?? "";
      if (floor < id && (parent === null || parent < id)) {
        ahead.delete(sessionId);
        return id;
      }
      const ids = own ?? createEventIds();
      const later = ids.next(ms, randomBytes(), parent ?? "");
      ahead.set(sessionId, ids);
      return later;
    },
    continueAfter: (sessionId, eventId) => {
      const floor = ahead.get(sessionId)?.last() ?? "";
      if (eventId > floor) ahead.set(sessionId, createEventIds({ after: eventId }));
    },
  };
}
