// The trace: events in batches, read in id order, swept except for audits.
import type { StrataEvent } from "../../../core/events/event.ts";
import type { EventQuery } from "../../../core/ledger/ledger.ts";
import { StrataError } from "../../../core/strata-error.ts";
import type { Statement } from "../sql/database.ts";
import { integer, text } from "../sql/read-row.ts";
import type { Value } from "../sql/tables.ts";
import {
  auditTypes,
  eventRow,
  eventWrites,
  nameOfDeleted,
  selectEvents,
  toEvent,
} from "./event-rows.ts";
import { commitOnce, conflict, mayRepeat, type Store } from "./store.ts";

/** The most events in one commit. A bus queues at most this many. */
const eventsMax = 10_000;

export async function appendEvents(store: Store, given: readonly StrataEvent[]): Promise<void> {
  const events = await withoutDeleted(store, given);
  if (events.length === 0) return;
  if (events.length > eventsMax) {
    throw new StrataError(
      "input-invalid",
      `${events.length} events are too many for one commit`,
      `append at most ${eventsMax} at a time`,
    );
  }
  const result = await commitOnce(store, {
    guards: [],
    writes: eventWrites(events),
    landed: () => allRecorded(events),
  });
  if (result.kind === "done") return;
  throw conflict(
    `one of ${events.length} events has an id that is already in the ledger`,
    "make ids greater than the session's last one; none of the events was stored",
  );
}

/** A late writer does not bring back a deleted session. */
async function withoutDeleted(
  { database }: Store,
  events: readonly StrataEvent[],
): Promise<readonly StrataEvent[]> {
  const ids = [...new Set(events.map(({ sessionId }) => sessionId))];
  if (ids.length === 0) return [];
  const marks = new Map(ids.map((id) => [nameOfDeleted(id), id]));
  const places = ids.map(() => "?").join(", ");
  const rows = await database.query(
    `SELECT DISTINCT session_id FROM events WHERE session_id IN (${places})`,
    [...marks.keys()],
  );
  if (rows.length === 0) return events;
  const living = await database.query(`SELECT id FROM sessions WHERE id IN (${places})`, ids);
  const alive = new Set(living.map((row) => text(row, "id")));
  const gone = new Set(rows.map((row) => marks.get(text(row, "session_id"))));
  return events.filter(({ sessionId }) => alive.has(sessionId) || !gone.has(sessionId));
}

/** Asks whether the whole batch was already recorded. */
function allRecorded(events: readonly StrataEvent[]): Statement {
  const row = "(CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS TEXT))";
  const rows = events.map(eventRow);
  return {
    sql: `SELECT 1 AS landed FROM (SELECT COUNT(*) AS kept FROM events WHERE (id, timestamp_us, payload_json) IN (VALUES ${rows.map(() => row).join(", ")})) recorded WHERE kept = ?`,
    values: [
      ...rows.flatMap((each) => [each["id"], each["timestamp_us"], each["payload_json"]]),
      rows.length,
    ].map((value) => value ?? null),
  };
}

const eventsPerPage = 500;

export async function* readEvents(store: Store, query: EventQuery): AsyncGenerator<StrataEvent> {
  const conditions: string[] = ["id > ?"];
  const fixed: Value[] = [];
  if (query.sessionId !== undefined) {
    conditions.push("session_id = ?");
    fixed.push(query.sessionId);
  }
  if (query.types !== undefined) {
    conditions.push(
      query.types.length === 0 ? "1 = 0" : `type IN (${query.types.map(() => "?").join(", ")})`,
    );
    fixed.push(...query.types);
  }
  const sql = selectEvents(conditions.join(" AND "));
  for (let after = query.afterId ?? ""; ;) {
    const rows = await store.database.query(sql, [after, ...fixed, eventsPerPage]);
    for (const row of rows) yield toEvent(row);
    const last = rows.at(-1);
    if (last === undefined || rows.length < eventsPerPage) return;
    after = text(last, "id");
  }
}

/** The batch size: others can write in between. */
const eventsPerSweep = 2000;

export async function sweepEvents({ database }: Store, beforeMs: number): Promise<number> {
  const condition = `timestamp_us < ? AND type NOT IN (${auditTypes.map(() => "?").join(", ")})`;
  const values = [beforeMs * 1000, ...auditTypes];
  for (let swept = 0; ;) {
    const [row] = await database.query(
      `SELECT COUNT(*) AS count FROM (SELECT 1 FROM events WHERE ${condition} LIMIT ${eventsPerSweep}) old`,
      values,
    );
    const count = row === undefined ? 0 : integer(row, "count");
    if (count === 0) return swept;
    await database.commit({
      guards: [],
      writes: [
        {
          sql: `DELETE FROM events WHERE id IN (SELECT id FROM events WHERE ${condition} LIMIT ${eventsPerSweep})`,
          values,
        },
      ],
      landed: mayRepeat,
    });
    swept += count;
  }
}
