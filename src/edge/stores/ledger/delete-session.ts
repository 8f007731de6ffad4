// Deleting for good: a session, those it asked for, and every turn nobody else stands on.
import type { DeleteOptions, Deletion } from "../../../core/ledger/ledger.ts";
import { hashContent } from "../../../core/hash.ts";
import type { Commit, Write } from "../sql/database.ts";
import { integer, integerOrNull, text } from "../sql/read-row.ts";
import { auditWrites, sessionCounts } from "./audit.ts";
import { needSession } from "./session-rows.ts";
import { conflict, type Store } from "./store.ts";

/** What of a branch goes: everything after a place, and the branch itself where nothing stays. */
interface Cut {
  readonly branchId: number;
  readonly parentId: number | null;
  /** Null where nothing of it stays. */
  readonly keepThrough: number | null;
}

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
    sessionId: `deleted ${hashContent(id).slice(0, 16)}`,
    payload: {
      reason: "user_request",
      event_count: await countEvents(store, ids),
      ...sessionCounts(record),
    },
  });
  const result = await store.database.commit(deleteCommit(store, ids, cuts, audit));
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
      ...(withForks
        ? await database.query(
            `SELECT f.session_id AS id FROM session_history h JOIN branches b ON b.parent_branch_id = h.branch_id JOIN session_history f ON f.branch_id = b.id WHERE h.session_id IN (${places})`,
            newest,
          )
        : []),
    ];
    newest = [...new Set(rows.map((row) => text(row, "id")))].filter((each) => !found.has(each));
    for (const each of newest) found.add(each);
  }
  return [...found];
}

/** Branches these sessions wrote, and ancestors that only they kept, each cut to what others stand on. */
async function cutsFor({ database }: Store, ids: readonly string[]): Promise<readonly Cut[]> {
  const places = ids.map(() => "?").join(", ");
  const rows = await database.query(
    `SELECT DISTINCT branch_id FROM session_history WHERE session_id IN (${places})`,
    ids,
  );
  const cuts = new Map<number, Cut>();
  let open = rows.map((row) => integer(row, "branch_id"));
  while (open.length > 0) {
    const parents = new Set<number>();
    for (const branchId of open) {
      const [others] = await database.query(
        `SELECT COUNT(*) AS count FROM session_history WHERE branch_id = ? AND session_id NOT IN (${places})`,
        [branchId, ...ids],
      );
      if (others === undefined || integer(others, "count") > 0) continue;
      const children = await database.query(
        "SELECT id, fork_seq FROM branches WHERE parent_branch_id = ?",
        [branchId],
      );
      const needed = children
        .filter((child) => cuts.get(integer(child, "id"))?.keepThrough !== null)
        .map((child) => integer(child, "fork_seq"));
      const keepThrough = needed.length === 0 ? null : Math.max(...needed);
      if (cuts.has(branchId) && cuts.get(branchId)?.keepThrough === keepThrough) continue;
      const [branch] = await database.query("SELECT parent_branch_id FROM branches WHERE id = ?", [
        branchId,
      ]);
      const parentId = branch === undefined ? null : integerOrNull(branch, "parent_branch_id");
      cuts.set(branchId, { branchId, parentId, keepThrough });
      if (parentId !== null) parents.add(parentId);
    }
    open = [...parents];
  }
  return childrenFirst([...cuts.values()]);
}

/** A turn can go only after those that follow it. */
function childrenFirst(cuts: readonly Cut[]): readonly Cut[] {
  const ordered: Cut[] = [];
  for (let left = cuts; left.length > 0;) {
    const parents = new Set(left.map(({ parentId }) => parentId));
    ordered.push(...left.filter(({ branchId }) => !parents.has(branchId)));
    left = left.filter(({ branchId }) => parents.has(branchId));
  }
  return ordered;
}

async function countTurns(
  { database }: Store,
  cuts: readonly Cut[],
): Promise<Pick<Deletion, "turns" | "turnsKept">> {
  let turns = 0;
  let turnsKept = 0;
  for (const { branchId, keepThrough } of cuts) {
    const [row] = await database.query(
      "SELECT COUNT(*) AS count, COALESCE(SUM(CASE WHEN seq <= ? AND status = 'completed' THEN 1 ELSE 0 END), 0) AS kept FROM turns WHERE branch_id = ?",
      [keepThrough ?? -1, branchId],
    );
    const kept = row === undefined ? 0 : Number(row["kept"]);
    turnsKept += kept;
    turns += (row === undefined ? 0 : integer(row, "count")) - kept;
  }
  return { turns, turnsKept };
}

async function countEvents({ database }: Store, ids: readonly string[]): Promise<number> {
  const [row] = await database.query(
    `SELECT COUNT(*) AS count FROM events WHERE session_id IN (${ids.map(() => "?").join(", ")})`,
    ids,
  );
  return row === undefined ? 0 : integer(row, "count");
}

function deleteCommit(
  store: Store,
  ids: readonly string[],
  cuts: readonly Cut[],
  audit: readonly Write[],
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
      ...audit,
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
