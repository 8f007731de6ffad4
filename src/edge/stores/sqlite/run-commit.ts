// One transaction: guards first, then writes. Synchronous, so nothing else in the process runs in between.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Commit, CommitResult, Guard, Write } from "../sql/database.ts";
import { columnsOf, type TableName } from "../sql/tables.ts";

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
  const { columns, sql } = insertOf(write.into, write.orIgnore === true);
  const statement = prepare(sql);
  for (const row of write.rows) statement.run(...columns.map((column) => row[column] ?? null));
}

interface InsertText {
  readonly columns: readonly string[];
  readonly sql: string;
}

const inserts = {
  strict: new Map<TableName, InsertText>(),
  ignoring: new Map<TableName, InsertText>(),
};

/** Built once per table. */
function insertOf(table: TableName, orIgnore: boolean): InsertText {
  const known = (orIgnore ? inserts.ignoring : inserts.strict).get(table);
  if (known !== undefined) return known;
  const columns = Object.keys(columnsOf(table));
  const places = columns.map(() => "?").join(", ");
  const conflict = orIgnore ? " ON CONFLICT DO NOTHING" : "";
  const sql = `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places})${conflict}`;
  const made = { columns, sql };
  (orIgnore ? inserts.ignoring : inserts.strict).set(table, made);
  return made;
}
