// The lock for compacting a session: a holder, a fencing token, a lifetime, a heartbeat.
import type { CompactionLock, LockLifetime } from "../../../../core/ledger/ledger.ts";
import type { Guard } from "../../sql/database.ts";
import { integer, text, textOrNull } from "../../sql/read-row.ts";
import { keepAlive } from "../heartbeat.ts";
import { isHolderGone, orGiveUp } from "../lease-holder.ts";
import { needSession } from "../sessions/session-rows.ts";
import { commitOnce, isFree, landedRow, mayRepeat, requireOurs, type Store } from "../store.ts";
import { commitCompaction, giveUpCompaction, type HeldLock } from "./commit-compaction.ts";

export async function lockCompaction(
  store: Store,
  sessionId: string,
  { lockMs = store.leaseMs }: LockLifetime = {},
): Promise<CompactionLock | null> {
  const { record } = await needSession(store, sessionId);
  // A summary would send its tools and system text.
  requireOurs(record);
  const { database } = store;
  const holder = store.newHolder();
  const unheld = { session_id: sessionId, locked_at: 0, holder: null, token: 0, expires_ms: 0 };
  await database.commit({
    guards: [],
    writes: [{ into: "compaction_locks_v1", rows: [unheld], orIgnore: true }],
    landed: mayRepeat,
  });
  const [row] = await database.query(
    "SELECT token, holder FROM compaction_locks_v1 WHERE session_id = ?",
    [sessionId],
  );
  const token = (row === undefined ? 0 : integer(row, "token")) + 1;
  const clock = store.clock();
  const before = row === undefined ? null : textOrNull(row, "holder");
  const gone = before !== null && isHolderGone(before) ? before : null;
  const free = isFree("holder", "expires_ms", clock);
  const result = await commitOnce(store, {
    guards: [
      {
        name: "lock",
        sql: `UPDATE compaction_locks_v1 SET holder = ?, token = ?, locked_at = ?, expires_ms = ${clock.sql} + ? WHERE session_id = ? AND token = ? AND (${free.sql} OR holder = ?)`,
        values: [
          holder,
          token,
          store.now(),
          ...clock.values,
          lockMs,
          sessionId,
          token - 1,
          ...free.values,
          gone,
        ],
      },
    ],
    writes: [],
    landed: () => landedRow("compaction_locks_v1", { session_id: sessionId, holder, token }),
  });
  return result.kind === "done"
    ? holdLock({ ...store, leaseMs: lockMs }, { sessionId, holder, token })
    : null;
}

function holdLock(store: Store, held: HeldLock): CompactionLock {
  const { sessionId, holder, token } = held;
  const heartbeat = keepAlive(store, () => lockUpdate(store, held));
  return {
    ...held,
    commit: (compaction, events = []) => commitCompaction(store, held, compaction, events),
    giveUp: (stateJson) => giveUpCompaction(store, held, stateJson),
    release: async () => {
      heartbeat.stop();
      // Releases nothing if the lock is no longer ours.
      const sql =
        "UPDATE compaction_locks_v1 SET holder = NULL, expires_ms = 0 WHERE session_id = ? AND holder = ? AND token = ?";
      const commit = { guards: [], writes: [{ sql, values: [sessionId, holder, token] }] };
      await orGiveUp(holder, () => store.database.commit({ ...commit, landed: mayRepeat }));
    },
  };
}

function lockUpdate(store: Store, { sessionId, holder, token }: HeldLock): Guard {
  const clock = store.clock();
  return {
    name: "lock",
    sql: `UPDATE compaction_locks_v1 SET expires_ms = ${clock.sql} + ? WHERE session_id = ? AND holder = ? AND token = ?`,
    values: [...clock.values, store.leaseMs, sessionId, holder, token],
  };
}

export async function dropStaleLocks(store: Store, olderThanMs: number): Promise<number> {
  const clock = store.clock();
  const condition = `holder IS NOT NULL AND expires_ms < ${clock.sql} - ?`;
  const values = [...clock.values, olderThanMs];
  const rows = await store.database.query(
    `SELECT session_id FROM compaction_locks_v1 WHERE ${condition}`,
    values,
  );
  let dropped = 0;
  for (const row of rows) {
    const result = await store.database.commit({
      guards: [
        {
          name: "lock",
          sql: `UPDATE compaction_locks_v1 SET holder = NULL, expires_ms = 0 WHERE session_id = ? AND ${condition}`,
          values: [text(row, "session_id"), ...values],
        },
      ],
      writes: [],
    });
    if (result.kind === "done") dropped += 1;
  }
  return dropped;
}
