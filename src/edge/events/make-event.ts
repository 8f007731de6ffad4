// Turns drafts into events: adds id, time and defaults, and checks them against the catalogue.
import { checkEvent, type EventViolation } from "../../core/events/check-event.ts";
import { isEventType, type EventType } from "../../core/events/event-catalogue.ts";
import { isUlid } from "../../core/message/validate-message.ts";
import { completeEvent, type DraftOf, type EventOf } from "../../core/events/event.ts";
import { isRefused, salvageEvent, type Strictness } from "../../core/events/salvage-event.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { Report } from "./problem.ts";
import type { SessionIds } from "./session-ids.ts";

export type MakeEvent = <Type extends EventType>(draft: DraftOf<Type>) => EventOf<Type>;

export interface MakerOptions {
  readonly strictness: Strictness;
  readonly ids: SessionIds;
  readonly nowUs: () => number;
  readonly report: Report;
}

export function createMakeEvent({ strictness, ids, nowUs, report }: MakerOptions): MakeEvent {
  return (draft) => {
    const { type } = draft;
    if (!isEventType(type)) throw refuse(type, checkEvent(draft), report);
    const timestampUs = nowUs();
    const id = ids.next(draft.sessionId, timestampUs / 1000, parentOf(draft));
    const event = completeEvent(draft, { id, timestampUs });
    const violations = checkEvent(event);
    if (violations.length === 0) return event;
    if (isRefused(violations, strictness)) throw refuse(type, violations, report);
    report({ kind: "event-invalid", type, isRefused: false, violations });
    return salvageEvent(event, violations);
  };
}

function parentOf({ parentEventId }: { readonly parentEventId?: string | null }): string | null {
  return typeof parentEventId === "string" && isUlid(parentEventId) ? parentEventId : null;
}

function refuse(type: unknown, violations: readonly EventViolation[], report: Report): StrataError {
  report({ kind: "event-invalid", type: String(type), isRefused: true, violations });
  const [first] = violations;
  const what = first === undefined ? "" : `: ${first.path} ${first.message}`;
  const more = violations.length > 1 ? ` (and ${violations.length - 1} more)` : "";
  return new StrataError(
    "input-invalid",
    `the event does not match the catalogue${what}${more}`,
    "see docs/events.md for the fields of each event",
  );
}
