// Waits until those have ended that were writing to some tables when it was called. Blocks nobody.
import { setTimeout as wait } from "node:timers/promises";
import type { Database } from "../sql/database.ts";
import { text } from "../sql/read-row.ts";

const waitForMs = 5000;
const pauseMs = 5;

/** A transaction that writes to a table holds this lock from before its first row until its end. */
const writersSql = (tables: readonly string[]): string =>
  `SELECT DISTINCT l.virtualtransaction AS writer FROM pg_locks l
  WHERE l.locktype = 'relation' AND l.mode = 'RowExclusiveLock' AND l.pid <> pg_backend_pid()
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND l.relation IN (${tables.map((table) => `CAST(CAST('${table}' AS regclass) AS oid)`).join(", ")})`;

export async function areWritersGone(
  query: Database["query"],
  tables: readonly string[],
): Promise<boolean> {
  const sql = writersSql(tables);
  const read = async (): Promise<readonly string[]> =>
    (await query(sql)).map((row) => text(row, "writer"));
  const endMs = performance.now() + waitForMs;
  for (let left = await read(); left.length > 0;) {
    if (performance.now() >= endMs) return false;
    await wait(pauseMs);
    const now = new Set(await read());
    left = left.filter((writer) => now.has(writer));
  }
  return true;
}
