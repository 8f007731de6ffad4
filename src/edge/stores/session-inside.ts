// What a ledger knows about a session beyond its record: who runs it, and turns beside its thread.
import type { Database } from "./sql/database.ts";
import { integer, text, textOrNull } from "./sql/read-row.ts";

export interface Runner {
  readonly holder: string | null;
  /** Whether the lease is valid by the database's clock. */
  readonly isLive: boolean;
  readonly expiresMs: number;
}

/** Only reads. `findUnfinished` would take the lease from a slow writer. */
export async function readRunner(database: Database, sessionId: string): Promise<Runner | null> {
  const [row] = await database.query(
    `SELECT lease_holder, lease_expires_ms, CASE WHEN lease_holder IS NOT NULL AND lease_expires_ms >= ${database.clockSql} THEN 1 ELSE 0 END AS is_live FROM sessions WHERE id = ? AND open_turn_id IS NOT NULL`,
    [sessionId],
  );
  if (row === undefined) return null;
  return {
    holder: textOrNull(row, "lease_holder"),
    isLive: integer(row, "is_live") === 1,
    expiresMs: integer(row, "lease_expires_ms"),
  };
}

/** Turns made in a session, oldest first, including failed ones and those its pointer left behind. */
export async function readOwnTurnIds(
  database: Database,
  sessionId: string,
): Promise<readonly string[]> {
  const rows = await database.query(
    "SELECT id FROM turns WHERE branch_id IN (SELECT branch_id FROM session_history WHERE session_id = ?) ORDER BY started_ms, branch_id, seq",
    [sessionId],
  );
  return rows.map((row) => text(row, "id"));
}
