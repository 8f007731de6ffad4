// Turns a commit into one statement if possible: PostgreSQL runs a statement as a transaction, in one round trip.
import { assert } from "../../../core/assert.ts";
import type { Commit, Guard, Insert, Statement, Write } from "../sql/database.ts";
import { columnsOf } from "../sql/tables.ts";
import type { Value } from "../sql/tables.ts";
import { numberPlaces, splitWhere } from "./to-postgres-sql.ts";

/** With numbered placeholders. A list holds one column of the rows to insert. */
export interface NumberedStatement {
  readonly sql: string;
  readonly values: readonly (Value | readonly Value[])[];
}

/** A larger insert is divided. */
const insertCharsMax = 8_000_000;

/**
 * The whole commit as one statement with one result row: `g0`, `g1` … is 1 if that guard held. Null if one
 * statement cannot express it.
 * Every part is a WITH query that runs only if the guard before it held. A guard with two rows makes the
 * statement, and so the transaction, fail (cardinality_violation). All parts see the rows as of the start of
 * the statement, except the rows they lock: these are read again once the lock is granted.
 */
export function composeCommit(commit: Commit): NumberedStatement | null {
  const { guards, writes } = commit;
  const parts = [...guards, ...writes.filter(isNeeded)];
  if (commit.inOrder === true || parts.length === 0 || !isOneStatement(commit)) return null;
  const named: string[] = [];
  const values: (Value | readonly Value[])[] = [];
  const add = (name: string, part: NumberedStatement): void => {
    named.push(`${name} AS (${numberPlaces(part.sql, values.length + 1)})`);
    values.push(...part.values);
  };
  guards.forEach((guard, index) => add(`g${index}`, guardPart(guard, holdsBefore(index))));
  const holds = holdsBefore(guards.length);
  writes.filter(isNeeded).forEach((write, index) => add(`w${index}`, writePart(write, holds)));
  const results = guards.map((_guard, index) => `(SELECT 1 FROM g${index}) AS g${index}`);
  return { sql: `WITH ${named.join(", ")} SELECT ${results.join(", ") || "1 AS done"}`, values };
}

export interface CommitSteps {
  readonly guards: readonly NumberedStatement[];
  readonly writes: readonly NumberedStatement[];
}

/** The same as statements of a transaction. Each sees earlier commits and the transaction's own writes. */
export function planSteps({ guards, writes }: Commit): CommitSteps {
  return {
    guards: guards.map((guard) => numbered(guardPart(guard, ""))),
    writes: writes
      .filter(isNeeded)
      .flatMap(divide)
      .map((write) => numbered(writePart(write, ""))),
  };
}

function isNeeded(write: Write): boolean {
  return "sql" in write || write.rows.length > 0;
}

/** An update before the last guard would remain if a later guard fails. */
function isOneStatement({ guards, writes }: Commit): boolean {
  if (guards.slice(0, -1).some(isUpdate)) return false;
  return writes.every((write) =>
    "sql" in write
      ? guards.length === 0 ||
        (splitWhere(write.sql) !== null && /^\s*(?:UPDATE|DELETE)\b/i.test(write.sql))
      : charsOf(write) <= insertCharsMax,
  );
}

function isUpdate({ sql }: Statement): boolean {
  return /^\s*UPDATE\b/i.test(sql);
}

/** The condition for everything after the first guards. Empty if there are none. */
function holdsBefore(guardCount: number): string {
  return guardCount === 0 ? "" : `(SELECT true FROM g${guardCount - 1})`;
}

function guardPart(guard: Guard, holds: string): NumberedStatement {
  const sql = conditional(guard.sql, holds);
  // Not FOR UPDATE: rows that refer to this one may be added and removed meanwhile.
  return {
    sql: `${sql} ${isUpdate(guard) ? "RETURNING 1" : "FOR NO KEY UPDATE"}`,
    values: guard.values,
  };
}

function writePart(write: Write, holds: string): NumberedStatement {
  if ("sql" in write) return { sql: conditional(write.sql, holds), values: write.values };
  return insertPart(write, holds);
}

function conditional(sql: string, holds: string): string {
  if (holds === "") return sql;
  const split = splitWhere(sql);
  assert(split !== null, `no WHERE clause to make conditional: ${sql}`);
  return `${split.head} WHERE (${split.condition}) AND ${holds}`;
}

/** One list per column: the statement is the same for any number of rows, so it is planned once. */
function insertPart({ into, rows, orIgnore }: Insert, holds: string): NumberedStatement {
  const types = columnsOf(into);
  const isKnown = rows.every((row) => Object.keys(row).every((name) => name in types));
  assert(isKnown, `a row has a column that ${into} does not have`);
  const columns = Object.entries(types);
  const names = columns.map(([name]) => name).join(", ");
  const lists = columns.map(([, type]) => `?::${type === "integer" ? "bigint" : "text"}[]`);
  const where = holds === "" ? "" : ` WHERE ${holds}`;
  const conflict = orIgnore === true ? " ON CONFLICT DO NOTHING" : "";
  return {
    sql: `INSERT INTO ${into} (${names}) SELECT * FROM unnest(${lists.join(", ")})${where}${conflict}`,
    values: columns.map(([name]) => rows.map((row) => row[name] ?? null)),
  };
}

function numbered({ sql, values }: NumberedStatement): NumberedStatement {
  return { sql: numberPlaces(sql), values };
}

function divide(write: Write): readonly Write[] {
  if ("sql" in write || write.rows.length === 1 || charsOf(write) <= insertCharsMax) return [write];
  const middle = Math.ceil(write.rows.length / 2);
  return [write.rows.slice(0, middle), write.rows.slice(middle)].flatMap((rows) =>
    divide({ ...write, rows }),
  );
}

function charsOf({ rows }: Insert): number {
  let chars = 0;
  for (const row of rows) {
    for (const value of Object.values(row)) chars += typeof value === "string" ? value.length : 8;
  }
  return chars;
}
