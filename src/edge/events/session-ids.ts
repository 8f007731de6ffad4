// Ids for many sessions in one process, each increasing, also where another node was ahead of our clock.
import { createEventIds, type EventIds } from "../../core/events/event-ids.ts";

export interface SessionIds {
  /** Greater than every id of the session so far, and than `parent`. */
  next(sessionId: string, ms: number, parent: string | null): string;
  /** Everything of the session that is made from now on comes after that event. */
  continueAfter(sessionId: string, eventId: string): void;
}

export function createSessionIds(randomBytes: () => Uint8Array): SessionIds {
  const shared = createEventIds();
  // Only sessions that are ahead of the clock have ids of their own, and only until it catches up: one session from
  // a node with a wrong clock does not move the others.
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
