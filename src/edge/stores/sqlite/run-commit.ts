// One transaction: guards first, then writes. Synchronous, so nothing else in the process runs in between.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { buildOnce } from "../sql/build-once.ts";
import type { Commit, CommitResult, Guard, Write } from "../sql/database.ts";
import { columnNames, type TableName, type Value } from "../sql/tables.ts";

export type Prepare = (sql: string) => StatementSync;

export function runCommit(
  connection: DatabaseSync,
  prepare: Prepare,
  commit: Commit,
): CommitResult {
  prepare("BEGIN IMMEDIATE").run();
  try {
    for (const guard of commit.guards) {
      if (holds(prepare, guard)) continue;
      prepare("ROLLBACK").run();
      return { kind: "refused", guard: guard.name };
    }
    for (const write of commit.writes) runWrite(prepare, write);
    prepare("COMMIT").run();
    return { kind: "done" };
  } catch (error) {
    if (connection.isTransaction) prepare("ROLLBACK").run();
    throw error;
  }
}

function holds(prepare: Prepare, { sql, values }: Guard): boolean {
  const statement = prepare(sql);
  return sql.startsWith("UPDATE")
    ? statement.run(...values).changes === 1
    : statement.all(...values).length === 1;
}

function runWrite(prepare: Prepare, write: Write): void {
  if ("sql" in write) {
    prepare(write.sql).run(...write.values);
    return;
  }
  const columns = columnNames(write.into);
  const sql = write.orIgnore === true ? ignoringInsert(write.into) : insert(write.into);
  const statement = prepare(sql);
  for (const row of write.rows) {
    const values: Value[] = [];
    for (const column of columns) values.push(row[column] ?? null);
    statement.run(...values);
  }
}

const insert = buildOnce((table: TableName) => {
  const columns = columnNames(table);
  const places = columns.map(() => "?");
  return `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places.join(", ")})`;
});

const ignoringInsert = buildOnce((table: TableName) => `${insert(table)} ON CONFLICT DO NOTHING`);
