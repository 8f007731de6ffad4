// Messages that wait for a session: added, read in order, taken by a turn, dropped.
import { queueModes } from "../../../core/config/schema/queue.ts";
import {
  queueStatuses,
  type NewQueueItem,
  type QueueDrop,
  type QueueItem,
} from "../../../core/ledger/queue-record.ts";
import type { Guard, ResultRow, Write } from "../sql/database.ts";
import { integer, jsonOrNull, oneOf, text, textOrNull } from "../sql/read-row.ts";
import { storable, storableJson, storableOrNull } from "../sql/storable.ts";
import { selected, type Row } from "../sql/tables.ts";
import { checkName } from "./sessions/write-session.ts";
import { busyWith, commitOnce, conflict, landedRow, triesMax, type Store } from "./store.ts";

/** Waiting, or dropped with a line that no turn has listed yet. In the words of the index, so that a read does not go over all that a session ever queued. */
const isOpen = "turn_id IS NULL AND status <> 'dropped'";

/** Needs no lease and no recorded session: anyone may queue, also before the first turn. */
export async function enqueue(store: Store, item: NewQueueItem): Promise<QueueItem> {
  checkName(item.id, "queue item");
  checkName(item.sessionId, "session");
  for (let tries = 1; tries <= triesMax; tries += 1) {
    const seq = (await lastSeq(store, item.sessionId)) + 1;
    const row = toRow(item, seq);
    const { id = null, session_id = null, event_json = null } = row;
    const result = await commitOnce(store, {
      guards: [],
      writes: [{ into: "queue_items", rows: [row] }],
      landed: () => landedRow("queue_items", { id, session_id, event_json }),
    });
    if (result.kind === "done") return needItem(store, item.id);
    if ((await findQueued(store, item.id)) !== null) {
      throw conflict(`item ${item.id} is already in a queue`, "give every message its own id");
    }
    // Another writer took the place.
  }
  throw busyWith(item.sessionId);
}

async function lastSeq({ database }: Store, sessionId: string): Promise<number> {
  const [row] = await database.query(
    "SELECT COALESCE(MAX(seq), 0) AS seq FROM queue_items WHERE session_id = ?",
    [sessionId],
  );
  return row === undefined ? 0 : integer(row, "seq");
}

async function needItem(store: Store, id: string): Promise<QueueItem> {
  const item = await findQueued(store, id);
  if (item === null) throw conflict(`item ${id} was deleted`, "queue it again");
  return item;
}

export async function findQueued({ database }: Store, id: string): Promise<QueueItem | null> {
  const [row] = await database.query(
    `SELECT ${selected("queue_items")} FROM queue_items WHERE id = ?`,
    [id],
  );
  return row === undefined ? null : toQueueItem(row);
}

export async function readQueue(
  { database }: Store,
  sessionId: string,
): Promise<readonly QueueItem[]> {
  const rows = await database.query(
    `SELECT ${selected("queue_items")} FROM queue_items WHERE session_id = ? AND ${isOpen} ORDER BY seq`,
    [sessionId],
  );
  return rows.map(toQueueItem);
}

export async function dropQueued(
  store: Store,
  ids: readonly string[],
  { status, reason }: QueueDrop,
): Promise<readonly string[]> {
  const dropped: string[] = [];
  for (const id of ids) {
    const result = await commitOnce(store, {
      guards: [
        {
          name: "item",
          sql: "UPDATE queue_items SET status = ?, reason = ? WHERE id = ? AND status = 'waiting'",
          values: [status, storable(reason), id],
        },
      ],
      writes: [],
      landed: () => landedRow("queue_items", { id, status, reason: storable(reason) }),
    });
    if (result.kind === "done") dropped.push(id);
  }
  return dropped;
}

export async function countWaiting({ database }: Store, sessionId: string): Promise<number> {
  const [row] = await database.query(
    `SELECT COUNT(*) AS count FROM queue_items WHERE session_id = ? AND ${isOpen} AND status = 'waiting'`,
    [sessionId],
  );
  return row === undefined ? 0 : integer(row, "count");
}

/** No other turn has taken the item, and it was not dropped. */
export function untakenGuard(id: string): Guard {
  return {
    name: "queue",
    sql: `SELECT 1 AS untaken FROM queue_items WHERE id = ? AND ${isOpen}`,
    values: [id],
  };
}

/** The turn has these items from now on. */
export function takeWrites(ids: readonly string[], turnId: string): readonly Write[] {
  return ids.map((id) => ({
    sql: `UPDATE queue_items SET turn_id = ?, status = CASE WHEN status = 'waiting' THEN 'taken' ELSE status END WHERE id = ? AND ${isOpen}`,
    values: [turnId, id],
  }));
}

function toRow(item: NewQueueItem, seq: number): Row {
  return {
    id: item.id,
    session_id: item.sessionId,
    seq,
    mode: item.mode,
    event_json: storableJson(item.eventJson),
    model: storableOrNull(item.model ?? undefined),
    status: "waiting",
    turn_id: null,
    reason: null,
    queued_ms: item.queuedMs,
  };
}

export function toQueueItem(row: ResultRow): QueueItem {
  return {
    id: text(row, "id"),
    sessionId: text(row, "session_id"),
    seq: integer(row, "seq"),
    mode: oneOf(row, "mode", queueModes),
    eventJson: jsonOrNull(row, "event_json") ?? "null",
    model: textOrNull(row, "model"),
    status: oneOf(row, "status", queueStatuses),
    turnId: textOrNull(row, "turn_id"),
    reason: textOrNull(row, "reason"),
    queuedMs: integer(row, "queued_ms"),
  };
}
