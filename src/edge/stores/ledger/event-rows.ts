// Converts event rows to events and back, and makes events about what the ledger itself did.
import {
  eventTypes,
  isAudit,
  isEventType,
  type EventType,
} from "../../../core/events/event-catalogue.ts";
import type { EventDraft, StrataEvent } from "../../../core/events/event.ts";
import { toUsd } from "../../../core/events/payload-spelling.ts";
import { hashContent } from "../../../core/hash.ts";
import type { SessionRecord } from "../../../core/ledger/session-record.ts";
import type { TurnRecord } from "../../../core/ledger/turn-record.ts";
import { StrataError } from "../../../core/strata-error.ts";
import type { ResultRow, Write } from "../sql/database.ts";
import { integer, readAs, text, textOrNull } from "../sql/read-row.ts";
import { selected, type Row } from "../sql/tables.ts";
import type { Store } from "./store.ts";

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

export function selectEvents(condition: string): string {
  return `SELECT ${selected("events")} FROM events WHERE ${condition} ORDER BY id LIMIT ?`;
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
    payload: readAs(row, "payload_json", JSON.parse),
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

/** An event about an act of the ledger, for the commit of that act. It follows every other event of its session. */
export async function auditWrites(
  { database, events }: Store,
  draft: EventDraft,
): Promise<readonly Write[]> {
  const [row] = await database.query("SELECT MAX(id) AS id FROM events WHERE session_id = ?", [
    draft.sessionId,
  ]);
  if (typeof row?.["id"] === "string") events.continueAfter(draft.sessionId, row["id"]);
  return eventWrites([events.make(draft)]);
}

export function turnCounts({ callCount, toolCallCount, costPicoUsd }: TurnRecord): {
  readonly llm_call_count: number;
  readonly tool_call_count: number;
  readonly total_cost_usd: string;
} {
  return {
    llm_call_count: callCount,
    tool_call_count: toolCallCount,
    total_cost_usd: toUsd(costPicoUsd),
  };
}

export function sessionCounts({ turnCount, costPicoUsd }: SessionRecord): {
  readonly turn_count: number;
  readonly total_cost_usd: string;
} {
  return { turn_count: turnCount, total_cost_usd: toUsd(costPicoUsd) };
}

/** The stand-in name of a deleted session. Only those who know the original name can derive it. */
export function nameOfDeleted(id: string): string {
  return `deleted ${hashContent(id).slice(0, 16)}`;
}
