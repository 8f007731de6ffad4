// Reads events of a window, tolerantly: an older or newer version may have written them.
import { fieldsOf, type Fields } from "../core/message/fields.ts";
import type { ResultRow } from "../edge/stores/sql/database.ts";
import { integer, text, textOrNull } from "../edge/stores/sql/read-row.ts";
import type { LedgerSnapshot, Label, Question } from "./analysis.ts";
import { toDayLabel, toHourLabel } from "./group-keys.ts";

export interface StoredEvent {
  readonly type: string;
  readonly timeMs: number;
  readonly sessionId: string;
  /** The model of the event's turn; null without a turn. */
  readonly model: string | null;
  readonly turnId: string | null;
  readonly payload: Fields;
}

/** What happened to the calls of one of the gateway's keys. */
export async function readEvents(
  { query, gatewayKey }: LedgerSnapshot,
  { window }: Question,
  types: readonly string[],
): Promise<readonly StoredEvent[]> {
  const inWindow = `e.type IN (${types.map(() => "?").join(", ")}) AND e.timestamp_us >= ? AND e.timestamp_us < ?`;
  const values = [...types, window.startMs * 1000, window.endMs * 1000];
  const rows = await query(
    `SELECT e.type, e.timestamp_us, e.session_id, e.turn_id, t.model, e.payload_json FROM events e LEFT JOIN turns t ON t.id = e.turn_id
    WHERE ${inWindow}`,
    values,
  );
  const events = rows.map(toStoredEvent);
  if (gatewayKey === null) return events;
  const calls = await query(
    `SELECT c.session_id, c.id FROM calls c WHERE c.gateway_key = ? AND c.session_id IN (SELECT e.session_id FROM events e WHERE ${inWindow})`,
    [gatewayKey, ...values],
  );
  const own = new Set(calls.map((row) => `${text(row, "session_id")}\n${text(row, "id")}`));
  return events.filter((event) =>
    own.has(`${event.sessionId}\n${textField(event, "call_id") ?? ""}`),
  );
}

export function toStoredEvent(row: ResultRow): StoredEvent {
  return {
    type: text(row, "type"),
    timeMs: Math.floor(integer(row, "timestamp_us") / 1000),
    sessionId: text(row, "session_id"),
    turnId: textOrNull(row, "turn_id"),
    model: textOrNull(row, "model"),
    payload: fieldsOf(JSON.parse(text(row, "payload_json"))),
  };
}

/** The group of an event. A group without a case here is a field of the payload. */
export function eventLabel(event: StoredEvent, groupBy: string): Label {
  switch (groupBy) {
    case "none":
      return "all";
    case "session":
      return event.sessionId;
    case "turn":
      return event.turnId;
    case "model":
      return textField(event, "model") ?? event.model;
    case "day":
      return toDayLabel(event.timeMs);
    case "hour":
      return toHourLabel(event.timeMs);
    default:
      return textField(event, groupBy);
  }
}

export function textField({ payload }: StoredEvent, name: string): string | null {
  const value = payload[name];
  return typeof value === "string" ? value : null;
}

export function numberField({ payload }: StoredEvent, name: string): number | null {
  const value = payload[name];
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** The sum of a number in the payloads; anything else counts as 0. */
export function sumField(events: readonly StoredEvent[], name: string): number {
  return events.reduce((sum, event) => sum + (numberField(event, name) ?? 0), 0);
}

export function sessionCount(events: readonly StoredEvent[]): number {
  return new Set(events.map(({ sessionId }) => sessionId)).size;
}

/** Groups events by label; an event can have several. */
export function groupEvents(
  events: readonly StoredEvent[],
  labelsOf: (event: StoredEvent) => readonly Label[],
): ReadonlyMap<Label, readonly StoredEvent[]> {
  const labelled = events.flatMap((event) => labelsOf(event).map((label) => ({ label, event })));
  const groups = Map.groupBy(labelled, ({ label }) => label);
  return new Map([...groups].map(([label, group]) => [label, group.map(({ event }) => event)]));
}

export function countBy(
  events: readonly StoredEvent[],
  nameOf: (event: StoredEvent) => string | null,
): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const event of events) {
    const name = nameOf(event);
    if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return Object.fromEntries([...counts].toSorted(([left], [right]) => (left < right ? -1 : 1)));
}
