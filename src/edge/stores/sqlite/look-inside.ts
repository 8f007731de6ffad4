// Reads a SQLite file without writing to it.
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import type { Database, Snapshot } from "../sql/database.ts";
import { toStoreError } from "./sqlite-errors.ts";

/** A consistent snapshot on its own connection. A database in memory has only the shared one. */
export async function readAlone<T>(
  shared: DatabaseSync,
  file: string,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  if (file === ":memory:") return work(toSnapshot(shared));
  let reader: DatabaseSync | undefined;
  try {
    reader = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
    reader.exec("BEGIN");
    return await work(toSnapshot(reader));
  } catch (error) {
    throw toStoreError(error, file);
  } finally {
    if (reader?.isOpen === true) reader.close();
  }
}

function toSnapshot(connection: DatabaseSync): Snapshot {
  return {
    query: (sql, values = []) => Promise.resolve(connection.prepare(sql).all(...values)),
    rows: async function* rows(sql) {
      yield* connection.prepare(sql).iterate();
    },
  };
}

export async function hasTable(query: Database["query"], name: string): Promise<boolean> {
  const rows = await query(
    "SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = ?",
    [name],
  );
  return rows.length > 0;
}

export async function sizeOf(query: Database["query"]): Promise<number> {
  const [row] = await query(
    "SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size",
  );
  return Number(row?.["bytes"] ?? 0);
}

export async function findDamage(query: Database["query"]): Promise<readonly string[]> {
  const rows = [
    ...(await query("SELECT integrity_check AS problem FROM pragma_integrity_check")),
    ...(await query(
      `SELECT 'row ' || rowid || ' of ' || "table" || ' points at nothing in ' || parent AS problem FROM pragma_foreign_key_check`,
    )),
  ];
  // SQLite reports damage as one text of many lines, under a heading.
  return rows
    .flatMap(({ problem }) => String(problem).split("\n"))
    .filter((problem) => problem !== "ok" && problem !== "" && !problem.startsWith("***"));
}

/** Moves everything into the file and empties the log beside it. Null once done. */
export async function truncateWal(query: Database["query"], endMs: number): Promise<string | null> {
  for (;;) {
    const [row] = await query("PRAGMA wal_checkpoint(TRUNCATE)");
    if (row?.["busy"] !== 1) return null;
    if (Date.now() >= endMs) {
      return "another process reads from the ledger, so that deleted content is still in the file beside it that ends in -wal; it is overwritten when the last process closes the ledger";
    }
    await wait(50);
  }
}
