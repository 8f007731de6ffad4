// Invariants between the events of a trace: ids grow within a session, and parents come before their children.
import type { StrataEvent } from "../src/core/events/event.ts";

export interface TraceViolation {
  readonly eventId: string;
  readonly rule: "id-not-greater" | "parent-missing" | "parent-later";
  readonly message: string;
}

/**
 * Checks events in stored order. `isKnown` answers for parents outside the list: in other sessions, or
 * removed by a retention sweep.
 */
export function checkTrace(
  events: readonly StrataEvent[],
  isKnown: (eventId: string) => boolean = () => false,
): readonly TraceViolation[] {
  const places = new Map(events.map(({ id }, index) => [id, index]));
  const lastIds = new Map<string, string>();
  const violations: TraceViolation[] = [];
  const report = (eventId: string, rule: TraceViolation["rule"], message: string): void => {
    violations.push({ eventId, rule, message });
  };
  for (const [index, { id, sessionId, parentEventId: parent }] of events.entries()) {
    const before = lastIds.get(sessionId) ?? "";
    if (id <= before) report(id, "id-not-greater", `comes after ${before} in ${sessionId}`);
    else lastIds.set(sessionId, id);
    if (parent === null) continue;
    const place = places.get(parent);
    if (place === undefined) {
      if (!isKnown(parent)) report(id, "parent-missing", `no event ${parent}`);
    } else if (place >= index) {
      report(id, "parent-later", `its parent ${parent} does not come before it`);
    }
  }
  return violations;
}
