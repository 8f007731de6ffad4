// What engines spent: sums over columns and indexes that every commit keeps.
import type { SpentBy } from "../../../core/ledger/ledger.ts";
import type { Statement } from "../sql/database.ts";
import { moneyOf, moneySums } from "../sql/sums.ts";
import type { Store } from "./store.ts";

export async function sumSpending({ database }: Store, by: SpentBy): Promise<bigint> {
  const { sql, values } = toQuery(by);
  const rows = await database.query(sql, values);
  return rows.reduce((sum, row) => sum + moneyOf(row, "cost"), 0n);
}

function toQuery(by: SpentBy): Statement {
  if ("agent" in by) {
    const sql = `SELECT ${moneySums("cost_pico_usd", "cost")} FROM sessions WHERE agent = ? AND origin = 'engine'`;
    return { sql, values: [by.agent] };
  }
  if ("sinceMs" in by) {
    const sql = `SELECT ${moneySums("cost_pico_usd", "cost")} FROM calls WHERE started_ms >= ? AND kind <> 'gateway'
      UNION ALL SELECT ${moneySums("cost_pico_usd", "cost")} FROM compactions_v1 WHERE compacted_at >= ?`;
    return { sql, values: [by.sinceMs, by.sinceMs] };
  }
  return {
    sql: `${family} SELECT ${moneySums("s.cost_pico_usd", "cost")} FROM family f JOIN sessions s ON s.id = f.id`,
    values: [by.sessionId],
  };
}

/** Up to the session that started all of them, then down to every session that it started. */
const family = `WITH RECURSIVE above (id, parent_id) AS (
    SELECT id, parent_session_id FROM sessions WHERE id = ?
    UNION SELECT s.id, s.parent_session_id FROM sessions s JOIN above a ON s.id = a.parent_id
  ), family (id) AS (
    SELECT a.id FROM above a WHERE a.parent_id IS NULL OR NOT EXISTS (SELECT 1 FROM sessions p WHERE p.id = a.parent_id)
    UNION SELECT s.id FROM sessions s JOIN family f ON s.parent_session_id = f.id
  )`;
