// Turns a commit into one statement if possible: PostgreSQL runs a statement as a transaction, in one round trip.
import { assert } from "../../../core/assert.ts";
import { buildOnce } from "../sql/build-once.ts";
import type { Commit, Guard, Insert, Statement, Write } from "../sql/database.ts";
import { columnNames, columnsOf, type Row, type TableName, type Value } from "../sql/tables.ts";
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
  const { guards, inOrder } = commit;
  const writes = commit.writes.filter(isNeeded).map(toPart);
  if (inOrder === true || guards.length + writes.length === 0) return null;
  if (writes.some(({ chars }) => chars > insertCharsMax)) return null;
  const sql = composeOnce(guards, writes);
  if (sql === null) return null;
  return { sql, values: [...guards, ...writes].flatMap((part) => part.values) };
}

export interface CommitSteps {
  readonly guards: readonly NumberedStatement[];
  readonly writes: readonly NumberedStatement[];
}

/** The same as statements of a transaction. Each sees earlier commits and the transaction's own writes. */
export function planSteps({ guards, writes }: Commit): CommitSteps {
  return {
    guards: guards.map((guard) => ({
      sql: numberPlaces(guardSql(guard, "")),
      values: guard.values,
    })),
    writes: writes
      .filter(isNeeded)
      .flatMap(divide)
      .map(({ sql, values }) => ({ sql: numberPlaces(sql), values })),
  };
}

function isNeeded(write: Write): boolean {
  return "sql" in write || write.rows.length > 0;
}

/** A write as PostgreSQL runs it. */
interface Part extends NumberedStatement {
  readonly isInsert: boolean;
  readonly chars: number;
}

function toPart(write: Write): Part {
  if ("sql" in write) return { ...write, isInsert: false, chars: 0 };
  return insertPart(write);
}

/** The statements of commits that came before, by their parts: the same ones come again and again, with other values. */
interface Known {
  readonly next: Map<string, Known>;
  sql: string | null | undefined;
}

const known: Known = { next: new Map(), sql: undefined };
let knownCount = 0;
const knownMax = 1000;

function composeOnce(guards: readonly Guard[], writes: readonly Part[]): string | null {
  // Their text depends on the number of rows.
  if (writes.some(({ chars }) => chars > listCharsMax)) return compose(guards, writes);
  let place = known;
  for (const { sql } of guards) place = follow(place, sql);
  place = follow(place, "then");
  for (const { sql } of writes) place = follow(place, sql);
  if (place.sql === undefined) place.sql = compose(guards, writes);
  return place.sql;
}

function follow(place: Known, sql: string): Known {
  const found = place.next.get(sql);
  if (found !== undefined) return found;
  if (knownCount >= knownMax) {
    known.next.clear();
    knownCount = 0;
  }
  knownCount += 1;
  const added: Known = { next: new Map(), sql: undefined };
  place.next.set(sql, added);
  return added;
}

function compose(guards: readonly Guard[], writes: readonly Part[]): string | null {
  if (!isOneStatement(guards, writes)) return null;
  const named: string[] = [];
  let places = 0;
  const add = (name: string, sql: string, { values }: Statement | Part): void => {
    named.push(`${name} AS (${numberPlaces(sql, places + 1)})`);
    places += values.length;
  };
  guards.forEach((guard, index) => {
    add(`g${index}`, guardSql(guard, holdsBefore(index)), guard);
  });
  const holds = holdsBefore(guards.length);
  writes.forEach((part, index) => {
    add(`w${index}`, partSql(part, holds), part);
  });
  const results = guards.map((_guard, index) => `(SELECT 1 FROM g${index}) AS g${index}`);
  return `WITH ${named.join(", ")} SELECT ${results.join(", ") || "1 AS done"}`;
}

/** An update before the last guard would remain if a later guard fails. */
function isOneStatement(guards: readonly Guard[], writes: readonly Part[]): boolean {
  if (guards.slice(0, -1).some(isUpdate)) return false;
  return writes.every(
    ({ isInsert, sql }) =>
      isInsert ||
      guards.length === 0 ||
      (splitWhere(sql) !== null && /^\s*(?:UPDATE|DELETE)\b/i.test(sql)),
  );
}

function isUpdate({ sql }: Statement): boolean {
  return /^\s*UPDATE\b/i.test(sql);
}

/** The condition for everything after the first guards. Empty if there are none. */
function holdsBefore(guardCount: number): string {
  return guardCount === 0 ? "" : `(SELECT true FROM g${guardCount - 1})`;
}

function guardSql(guard: Guard, holds: string): string {
  // Not FOR UPDATE: rows that refer to this one may be added and removed meanwhile.
  return `${conditional(guard.sql, holds)} ${isUpdate(guard) ? "RETURNING 1" : "FOR NO KEY UPDATE"}`;
}

function partSql({ sql, isInsert }: Part, holds: string): string {
  if (holds === "" || !isInsert) return conditional(sql, holds);
  const head = sql.endsWith(ignoring) ? sql.slice(0, -ignoring.length) : sql;
  return `${head} WHERE ${holds}${sql.slice(head.length)}`;
}

function conditional(sql: string, holds: string): string {
  if (holds === "") return sql;
  const split = splitWhere(sql);
  assert(split !== null, `no WHERE clause to make conditional: ${sql}`);
  return `${split.head} WHERE (${split.condition}) AND ${holds}`;
}

/**
 * One row is inserted by its values. More rows by one list per column: the statement is the same for any number of them,
 * so it is planned once. Large texts are values of their own: the driver escapes lists, which takes up to sixty times
 * their size in memory.
 */
function insertPart({ into, rows, orIgnore }: Insert): Part {
  const values: Value[] = [];
  for (const row of rows) addValues(values, row, into);
  const chars = charsOf(values);
  const tail = orIgnore === true ? ignoring : "";
  const isLarge = chars > listCharsMax && rows.length <= ownRowsMax;
  if (rows.length === 1) return { sql: rowInsert[tail](into), values, chars, isInsert: true };
  if (isLarge) return { sql: rowsInsert(into, rows.length) + tail, values, chars, isInsert: true };
  const lists = columnNames(into).map((_name, at, { length }) =>
    rows.map((_row, row) => values[row * length + at] ?? null),
  );
  return { sql: listInsert[tail](into), values: lists, chars, isInsert: true };
}

/** In the order of the table's columns. */
function addValues(values: Value[], row: Row, table: TableName): void {
  let given = 0;
  for (const name of columnNames(table)) {
    const value = row[name];
    if (value !== undefined) given += 1;
    values.push(value ?? null);
  }
  assert(
    given === Object.keys(row).length,
    `a row has a column that ${table} does not have`,
  );
}

function charsOf(values: readonly Value[]): number {
  return values.reduce<number>(
    (sum, value) => sum + (typeof value === "string" ? value.length : 8),
    0,
  );
}

const ignoring = " ON CONFLICT DO NOTHING";
const listCharsMax = 100_000;
/** A statement takes 65,535 values. */
const ownRowsMax = 200;

const rowInsert = perTail((table) => `${into(table)} SELECT ${places(table).join(", ")}`);

const listInsert = perTail((table) => {
  const lists = places(table).map((place) => `${place}[]`);
  return `${into(table)} SELECT * FROM unnest(${lists.join(", ")})`;
});

type InsertText = (table: TableName) => string;

function perTail(build: InsertText): Readonly<Record<"" | typeof ignoring, InsertText>> {
  return { "": buildOnce(build), [ignoring]: buildOnce((table) => build(table) + ignoring) };
}

function rowsInsert(table: TableName, rowCount: number): string {
  const rows = Array.from({ length: rowCount }, () => `(${places(table).join(", ")})`);
  const names = columnNames(table).join(", ");
  return `${into(table)} SELECT * FROM (VALUES ${rows.join(", ")}) AS given (${names})`;
}

function into(table: TableName): string {
  return `INSERT INTO ${table} (${columnNames(table).join(", ")})`;
}

function places(table: TableName): readonly string[] {
  return Object.values(columnsOf(table)).map(
    (type) => `?::${type === "integer" ? "bigint" : "text"}`,
  );
}

function divide(write: Write): readonly Part[] {
  const part = toPart(write);
  if ("sql" in write || write.rows.length === 1 || part.chars <= insertCharsMax) return [part];
  const middle = Math.ceil(write.rows.length / 2);
  return [write.rows.slice(0, middle), write.rows.slice(middle)].flatMap((rows) =>
    divide({ ...write, rows }),
  );
}
