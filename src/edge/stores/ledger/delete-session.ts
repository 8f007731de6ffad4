// Deleting for good: a session, those it asked for, and every turn nobody else stands on.
import type { DeleteOptions, Deletion } from "../../../core/ledger/ledger.ts";
import { hashContent } from "../../../core/hash.ts";
import type { Commit, Write } from "../sql/database.ts";
import { integer, text } from "../sql/read-row.ts";
import { auditWrites, sessionCounts } from "./audit.ts";
import { needSession } from "./session-rows.ts";
import { conflict, type Store } from "./store.ts";
import { type Cut, cutsFor, countTurns } from "./find-cuts.ts";

export async function deleteSession(
  store: Store,
  id: string,
  { withForks = false }: DeleteOptions,
): Promise<Deletion> {
  const { record } = await needSession(store, id);
  const ids = await sessionsToDelete(store, id, withForks);
  const cuts = await cutsFor(store, ids);
  const { turns, turnsKept } = await countTurns(store, cuts);
  const audit = await auditWrites(store, {
    type: "session.deleted",
    // The name may tell of a person; who knows it can find the event.
    sessionId: nameOfDeleted(id),
    payload: {
      reason: "user_request",
      event_count: await countEvents(store, ids),
      ...sessionCounts(record),
    },
  });
  const also = [...audit, ...(await forgetNames(store, ids))];
  const result = await store.database.commit(deleteCommit(store, ids, cuts, also));
  if (result.kind !== "done") {
    throw conflict(
      `session ${id} or one that belongs to it runs a turn, or was changed just now`,
      "wait until its turn is closed, then delete it; nothing was deleted",
    );
  }
  await store.database.scrub();
  return { sessions: ids, turns, turnsKept };
}

async function sessionsToDelete(
  { database }: Store,
  id: string,
  withForks: boolean,
): Promise<readonly string[]> {
  const found = new Set([id]);
  for (let newest: readonly string[] = [id]; newest.length > 0;) {
    const places = newest.map(() => "?").join(", ");
    const rows = [
      ...(await database.query(
        `SELECT id FROM sessions WHERE parent_session_id IN (${places})`,
        newest,
      )),
      ...(withForks ? await database.query(standingOn(places), newest) : []),
    ];
    newest = [...new Set(rows.map((row) => text(row, "id")))].filter((each) => !found.has(each));
    for (const each of newest) found.add(each);
  }
  return [...found];
}

function nameOfDeleted(id: string): string {
  return `deleted ${hashContent(id).slice(0, 16)}`;
}

/** Forks tell where they come from, also when that is gone. */
async function forgetNames({ database }: Store, ids: readonly string[]): Promise<readonly Write[]> {
  const rows = await database.query(
    "SELECT id, payload_json FROM events WHERE type = 'session.forked'",
  );
  return rows.flatMap((row): readonly Write[] => {
    const payload: unknown = JSON.parse(text(row, "payload_json"));
    if (typeof payload !== "object" || payload === null) return [];
    const from = "from_session_id" in payload ? payload.from_session_id : null;
    if (typeof from !== "string" || !ids.includes(from)) return [];
    const json = JSON.stringify({ ...payload, from_session_id: nameOfDeleted(from) });
    return [
      { sql: "UPDATE events SET payload_json = ? WHERE id = ?", values: [json, text(row, "id")] },
    ];
  });
}

async function countEvents({ database }: Store, ids: readonly string[]): Promise<number> {
  const [row] = await database.query(
    `SELECT COUNT(*) AS count FROM events WHERE session_id IN (${ids.map(() => "?").join(", ")})`,
    ids,
  );
  return row === undefined ? 0 : integer(row, "count");
}

/** Sessions on branches that were forked from those of others, also where the session in between is gone. */
function standingOn(places: string): string {
  return `WITH RECURSIVE below (id) AS (
    SELECT b.id FROM branches b JOIN session_history h ON h.branch_id = b.parent_branch_id WHERE h.session_id IN (${places})
    UNION
    SELECT b.id FROM branches b JOIN below ON b.parent_branch_id = below.id
  ) SELECT h.session_id AS id FROM session_history h JOIN below ON below.id = h.branch_id`;
}

function deleteCommit(
  store: Store,
  ids: readonly string[],
  cuts: readonly Cut[],
  also: readonly Write[],
): Commit {
  const clock = store.clock();
  const places = ids.map(() => "?").join(", ");
  const gone = cuts.filter(({ keepThrough }) => keepThrough === null);
  const ofSessions: readonly Write[] = [
    "DELETE FROM session_history WHERE session_id",
    "DELETE FROM compaction_locks_v1 WHERE session_id",
    "DELETE FROM events WHERE session_id",
    "DELETE FROM sessions WHERE id",
  ].map((sql) => ({ sql: `${sql} IN (${places})`, values: ids }));
  return {
    inOrder: true,
    guards: ids.map((id) => ({
      name: "session",
      sql: `SELECT 1 AS free FROM sessions WHERE id = ? AND (open_turn_id IS NULL OR lease_holder IS NULL OR lease_expires_ms < ${clock.sql})`,
      values: [id, ...clock.values],
    })),
    writes: [
      ...also,
      ...ofSessions,
      // A branch points at the turn it was forked from.
      ...gone.map(({ branchId }) => ({
        sql: "DELETE FROM branches WHERE id = ?",
        values: [branchId],
      })),
      ...cuts.flatMap(turnDeletes),
      // Turns that stay are nobody's by name.
      ...["calls", "compactions_v1"].map((table) => ({
        sql: `UPDATE ${table} SET session_id = '' WHERE session_id IN (${places})`,
        values: ids,
      })),
      {
        sql: "DELETE FROM contents WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.foundation_hash = contents.hash)",
        values: [],
      },
    ],
  };
}

/** What nobody can stand on: turns after the last that is needed, and those that came to nothing. */
function turnDeletes({ branchId, keepThrough }: Cut): readonly Write[] {
  const values = [branchId, keepThrough ?? -1];
  const gone = "FROM turns WHERE branch_id = ? AND (seq > ? OR status <> 'completed')";
  return [
    {
      sql: `DELETE FROM messages WHERE branch_id = ? AND turn_seq IN (SELECT seq ${gone})`,
      values: [branchId, ...values],
    },
    ...["calls", "tool_calls", "compactions_v1", "events"].map((table) => ({
      sql: `DELETE FROM ${table} WHERE turn_id IN (SELECT id ${gone})`,
      values,
    })),
    { sql: `DELETE ${gone}`, values },
  ];
}
