// One session: what it did in all, who it started, and what fills its window.
import { fieldsOf } from "../../core/message/fields.ts";
import type { SessionRecord } from "../../core/ledger/session-record.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { selectSessions, toKnown } from "../../edge/stores/ledger/sessions/session-rows.ts";
import type { Snapshot } from "../../edge/stores/sql/database.ts";
import { integer, text as textOf } from "../../edge/stores/sql/read-row.ts";
import { selected } from "../../edge/stores/sql/tables.ts";
import { ownCalls, type Access } from "../access/access.ts";
import { refuseWith } from "../answer/api-error.ts";
import { toCall } from "../shapes/call-shape.ts";
import { toSessions } from "../shapes/session-shape.ts";
import type { Asked, Found, Source } from "./route.ts";

/** For a key, a session in which it has no call is none. */
export async function needSession(
  query: Snapshot["query"],
  id: string,
  access: Access,
): Promise<SessionRecord> {
  const [row] = await query(`${selectSessions} WHERE id = ?`, [id]);
  const own = ownCalls(access);
  const isSeen =
    access.kind === "owner" ||
    (
      await query(`SELECT 1 AS one FROM calls c WHERE c.session_id = ?${own.sql} LIMIT 1`, [
        id,
        ...own.values,
      ])
    ).length > 0;
  if (row !== undefined && isSeen) return toKnown(row).record;
  throw refuseWith(
    "session_not_found",
    "there is no such session",
    "list them: /strata/v1/sessions",
  );
}

export async function readSession(
  { path: { session: id = "" }, access }: Asked,
  { database, catalogue }: Source,
): Promise<Found> {
  const own = ownCalls(access);
  return database.snapshot(async ({ query }) => {
    const record = await needSession(query, id, access);
    const [shown] = await toSessions(query, [record], access);
    const calls = await query(
      `SELECT COUNT(*) AS call_count FROM calls c WHERE c.session_id = ?${own.sql}`,
      [id, ...own.values],
    );
    const [latest] = await query(
      `SELECT ${selected("calls", "c")} FROM calls c WHERE c.session_id = ?${own.sql} ORDER BY c.started_ms DESC, c.number DESC LIMIT 1`,
      [id, ...own.values],
    );
    const model = latest === undefined ? record.model : textOf(latest, "model");
    const data = {
      ...shown,
      call_count: integer(calls[0] ?? {}, "call_count"),
      miss_count: await countMisses(query, id, access),
      compaction_count: await countCompactions(query, id, access),
      sub_sessions: await readStarted(query, id, access),
      window_tokens: findModel(model, catalogue)?.facts.windowTokens ?? null,
      latest_call: latest === undefined ? null : toCall(latest),
    };
    return { body: { data }, isClosed: false };
  });
}

async function countMisses(query: Snapshot["query"], id: string, access: Access): Promise<number> {
  const events = await query(
    "SELECT e.payload_json FROM events e WHERE e.session_id = ? AND e.type = 'cache.miss'",
    [id],
  );
  if (access.kind === "owner") return events.length;
  const { sql, values } = ownCalls(access);
  const calls = await query(`SELECT c.id FROM calls c WHERE c.session_id = ?${sql}`, [
    id,
    ...values,
  ]);
  const own = new Set<unknown>(calls.map((row) => row["id"]));
  return events.filter((row) =>
    own.has(fieldsOf(JSON.parse(textOf(row, "payload_json")))["call_id"]),
  ).length;
}

/** The gateway compacts nothing. */
async function countCompactions(
  query: Snapshot["query"],
  id: string,
  access: Access,
): Promise<number> {
  if (access.kind === "key") return 0;
  const [row] = await query(
    "SELECT COUNT(*) AS compaction_count FROM compactions_v1 f WHERE f.session_id = ?",
    [id],
  );
  return integer(row ?? {}, "compaction_count");
}

async function readStarted(
  query: Snapshot["query"],
  id: string,
  access: Access,
): Promise<readonly string[]> {
  const { sql, values } = ownCalls(access);
  const isOwn =
    access.kind === "owner"
      ? ""
      : ` AND EXISTS (SELECT 1 FROM calls c WHERE c.session_id = s.id${sql})`;
  const rows = await query(
    `SELECT s.id FROM sessions s WHERE s.parent_session_id = ?${isOwn} ORDER BY s.created_ms, s.id LIMIT 1000`,
    [id, ...values],
  );
  return rows.map((row) => textOf(row, "id"));
}
