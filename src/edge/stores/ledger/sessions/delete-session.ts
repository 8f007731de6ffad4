// Deletes a session for good, with the sessions it started and every turn no other session uses.
import type { DeleteOptions, Deletion } from "../../../../core/ledger/ledger.ts";
import type { Commit, Write } from "../../sql/database.ts";
import { integer, readAs, text } from "../../sql/read-row.ts";
import { auditWrites, nameOfDeleted, sessionCounts } from "../event-rows.ts";
import { findKnown, needSession, type KnownSession } from "./session-rows.ts";
import { busyWith, conflict, isFree, triesMax, type Store } from "../store.ts";
import { type Cut, cutsFor, countTurns } from "./find-cuts.ts";

/** Plans from the current rows, and plans again if they changed before the commit. */
export async function deleteSession(
  store: Store,
  id: string,
  { withForks = false }: DeleteOptions = {},
): Promise<Deletion> {
  for (let tries = 1; tries <= triesMax; tries += 1) {
    const plan = await planDeletion(store, id, withForks);
    const result = await store.database.commit(deleteCommit(store, plan));
    if (result.kind !== "done") {
      await refuseRunning(store, plan.sessions);
      continue;
    }
    const { sessions, turns, turnsKept } = plan;
    const ids = sessions.map(({ record }) => record.id);
    return { sessions: ids, turns, turnsKept, notYetScrubbed: await store.database.scrub() };
  }
  throw busyWith(id);
}

interface DeletionPlan extends Pick<Deletion, "turns" | "turnsKept"> {
  readonly sessions: readonly KnownSession[];
  readonly cuts: readonly Cut[];
  /** The number of deletions so far. Of two concurrent deletions, one is planned again. */
  readonly deletions: number;
  readonly also: readonly Write[];
}

async function planDeletion(store: Store, id: string, withForks: boolean): Promise<DeletionPlan> {
  const [counter] = await store.database.query(
    "SELECT value FROM counters WHERE name = 'deletions'",
  );
  const { record } = await needSession(store, id);
  const sessions = await sessionsToDelete(store, id, withForks);
  const ids = sessions.map((each) => each.record.id);
  const cuts = await cutsFor(store, ids);
  const audit = await auditWrites(store, {
    type: "session.deleted",
    // The name may identify a person. Only those who know it can find the event.
    sessionId: nameOfDeleted(id),
    payload: {
      reason: "user_request",
      event_count: await countEvents(store, ids),
      ...sessionCounts(record),
    },
  });
  return {
    sessions,
    cuts,
    deletions: counter === undefined ? 0 : integer(counter, "value"),
    also: [...audit, ...(await forgetNames(store, ids))],
    ...(await countTurns(store, cuts)),
  };
}

async function refuseRunning(store: Store, sessions: readonly KnownSession[]): Promise<void> {
  for (const { record } of sessions) {
    const known = await findKnown(store, record.id);
    if (known === null || known.record.openTurnId === null || !known.lease.isLive) continue;
    throw conflict(
      `session ${record.id} runs turn ${known.record.openTurnId}`,
      "wait until its turn is closed, then delete it; nothing was deleted",
    );
  }
}

async function sessionsToDelete(
  store: Store,
  id: string,
  withForks: boolean,
): Promise<readonly KnownSession[]> {
  const { database } = store;
  const found = new Set([id]);
  const sessions: KnownSession[] = [];
  for (let newest: readonly string[] = [id]; newest.length > 0;) {
    // Read each session before its children: a new child changes its version and invalidates the plan.
    for (const each of newest) {
      const known = await findKnown(store, each);
      if (known !== null) sessions.push(known);
    }
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
  return sessions;
}

/** Events of forks name their origin; this removes the names of deleted ones. */
async function forgetNames({ database }: Store, ids: readonly string[]): Promise<readonly Write[]> {
  const places = ids.map(() => "?").join(", ");
  const rows = await database.query(
    `SELECT e.id, e.payload_json FROM events e WHERE e.type = 'session.forked' AND e.session_id IN (
      SELECT f.session_id FROM session_history h JOIN branches b ON b.parent_branch_id = h.branch_id JOIN session_history f ON f.branch_id = b.id WHERE h.session_id IN (${places}))`,
    ids,
  );
  return rows.flatMap((row): readonly Write[] => {
    const payload: unknown = readAs(row, "payload_json", JSON.parse);
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

/** Sessions on branches forked from these, also through sessions that are already gone. */
function standingOn(places: string): string {
  return `WITH RECURSIVE below (id) AS (
    SELECT b.id FROM branches b JOIN session_history h ON h.branch_id = b.parent_branch_id WHERE h.session_id IN (${places})
    UNION
    SELECT b.id FROM branches b JOIN below ON b.parent_branch_id = below.id
  ) SELECT h.session_id AS id FROM session_history h JOIN below ON below.id = h.branch_id`;
}

function deleteCommit(store: Store, { sessions, cuts, deletions, also }: DeletionPlan): Commit {
  const free = isFree("lease_holder", "lease_expires_ms", store.clock());
  const ids = sessions.map(({ record }) => record.id);
  const places = ids.map(() => "?").join(", ");
  const gone = cuts.filter(({ keepThrough }) => keepThrough === null);
  const ofSessions: readonly Write[] = [
    "DELETE FROM session_history WHERE session_id",
    "DELETE FROM compaction_locks_v1 WHERE session_id",
    // Not `turn_id IS NULL`: its index would read every call of the ledger that has no turn.
    "DELETE FROM calls WHERE COALESCE(turn_id, '') = '' AND session_id",
    "DELETE FROM conversation_blocks WHERE session_id",
    "DELETE FROM conversation_states WHERE conversation_id",
    "DELETE FROM events WHERE session_id",
    "DELETE FROM queue_items WHERE session_id",
    "DELETE FROM provider_resources WHERE lifecycle = 'gone' AND session_id",
    "UPDATE rollup_names SET name = NULL WHERE name",
    "DELETE FROM sessions WHERE id",
  ].map((sql) => ({ sql: `${sql} IN (${places})`, values: ids }));
  return {
    inOrder: true,
    guards: [
      ...sessions.map(({ record, version }) => ({
        name: "session",
        sql: `SELECT 1 AS free FROM sessions WHERE id = ? AND version = ? AND (open_turn_id IS NULL OR ${free.sql})`,
        values: [record.id, version, ...free.values],
      })),
      {
        name: "deletions",
        sql: "UPDATE counters SET value = value + 1 WHERE name = 'deletions' AND value = ?",
        values: [deletions],
      },
    ],
    writes: [
      ...also,
      ...ofSessions,
      // A branch refers to the turn it was forked from.
      ...gone.map(({ branchId }) => ({
        sql: "DELETE FROM branches WHERE id = ?",
        values: [branchId],
      })),
      ...cuts.flatMap(turnDeletes),
      // Turns that stay no longer name a session, nor does what a provider still keeps.
      ...["calls", "compactions_v1", "provider_resources"].map((table) => ({
        sql: `UPDATE ${table} SET session_id = '' WHERE session_id IN (${places})`,
        values: ids,
      })),
      {
        sql: "DELETE FROM contents WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.foundation_hash = contents.hash) AND NOT EXISTS (SELECT 1 FROM compactions_v1 f WHERE f.foundation_hash = contents.hash) AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.foundation_hash = contents.hash) AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.whole_hash = contents.hash)",
        values: [],
      },
    ],
  };
}

/** Deletes turns after the last needed one, and turns that were not completed. */
function turnDeletes({ branchId, keepThrough }: Cut): readonly Write[] {
  const values = [branchId, keepThrough ?? -1];
  const gone = "FROM turns WHERE branch_id = ? AND (seq > ? OR status <> 'completed')";
  return [
    ...["message_terms", "messages"].map((table) => ({
      sql: `DELETE FROM ${table} WHERE branch_id = ? AND turn_seq IN (SELECT seq ${gone})`,
      values: [branchId, ...values],
    })),
    ...["calls", "tool_calls", "compactions_v1", "events"].map((table) => ({
      sql: `DELETE FROM ${table} WHERE turn_id IN (SELECT id ${gone})`,
      values,
    })),
    // A compaction whose kept turn is gone now keeps only its summary.
    {
      sql: `UPDATE compactions_v1 SET first_kept_turn_id = NULL, first_kept_index = 0, summarized_through_turn_id = turn_id WHERE first_kept_turn_id IN (SELECT id ${gone})`,
      values,
    },
    { sql: `DELETE ${gone}`, values },
  ];
}
