// Converts event rows to events and back.
import {
  eventTypes,
  isAudit,
  isEventType,
  type EventType,
} from "../../../core/events/event-catalogue.ts";
import type { StrataEvent } from "../../../core/events/event.ts";
import { StrataError } from "../../../core/strata-error.ts";
import type { ResultRow, Write } from "../sql/database.ts";
import { integer, text, textOrNull } from "../sql/read-row.ts";
import type { Row } from "../sql/tables.ts";

export function eventWrites(events: readonly StrataEvent[]): readonly Write[] {
  return events.length === 0 ? [] : [{ into: "events", rows: events.map(eventRow) }];
}

export function eventRow(event: StrataEvent): Row {
  return {
    id: event.id,
    timestamp_us: event.timestampUs,
    session_id: event.sessionId,
    turn_id: event.turnId,
    parent_event_id: event.parentEventId,
    type: event.type,
    actor: event.actor,
    sensitivity: event.sensitivity,
    payload_json: JSON.stringify(event.payload),
  };
}

const columns =
  "id, timestamp_us, session_id, turn_id, parent_event_id, type, actor, sensitivity, payload_json";

export function selectEvents(condition: string): string {
  return `SELECT ${columns} FROM events WHERE ${condition} ORDER BY id LIMIT ?`;
}

/** Events were checked when written. A later program may have written types unknown to this one. */
export function toEvent(row: ResultRow): StrataEvent {
  const event: unknown = {
    id: text(row, "id"),
    timestampUs: integer(row, "timestamp_us"),
    sessionId: text(row, "session_id"),
    turnId: textOrNull(row, "turn_id"),
    parentEventId: textOrNull(row, "parent_event_id"),
    type: text(row, "type"),
    actor: text(row, "actor"),
    sensitivity: text(row, "sensitivity"),
    payload: JSON.parse(text(row, "payload_json")),
  };
  if (isKnown(event)) return event;
  throw new StrataError(
    "store-unavailable",
    `event ${text(row, "id")} is of type ${text(row, "type")}, which this program does not know`,
    "use a later version of strata, or ask for the types you need",
  );
}

function isKnown(event: unknown): event is StrataEvent {
  return typeof event === "object" && event !== null && "type" in event && isEventType(event.type);
}

export const auditTypes: readonly EventType[] = eventTypes.filter(isAudit);
