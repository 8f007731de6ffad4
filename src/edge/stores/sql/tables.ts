// The tables and their columns, as every INSERT names them. Read from the schema in migrations.ts.
import { migrations } from "./migrations.ts";

export type ColumnType = "text" | "integer";

export type Value = string | number | bigint | null;

export type Row = Readonly<Record<string, Value>>;

export const tableNames = [
  "contents",
  "branches",
  "sessions",
  "session_history",
  "turns",
  "messages",
  "message_terms",
  "calls",
  "tool_calls",
  "compactions_v1",
  "compaction_locks_v1",
  "events",
] as const;

export type TableName = (typeof tableNames)[number];

/** For a SELECT. Money as text, because it can exceed a number. */
export function selected(table: TableName, alias: string = table): string {
  return Object.keys(columnsOf(table))
    .map((column) =>
      column === "cost_pico_usd"
        ? `CAST(${alias}.${column} AS TEXT) AS ${column}`
        : `${alias}.${column}`,
    )
    .join(", ");
}

export function columnsOf(table: TableName): Readonly<Record<string, ColumnType>> {
  return columns.get(table) ?? {};
}

/** Both databases have the same columns, apart from the row numbers that SQLite needs for its full-text index. */
const statements = migrations
  .flatMap((step) => step.statements)
  .flatMap((each) => (typeof each === "string" ? [each] : each.sqlite));

const columns: ReadonlyMap<string, Readonly<Record<string, ColumnType>>> = new Map(
  tableNames.map((table) => [
    table,
    Object.fromEntries(
      statements
        .filter((sql) => new RegExp(`^(?:CREATE|ALTER) TABLE ${table} `).test(sql))
        .flatMap((sql) => [...sql.matchAll(/(?:[(,]|ADD COLUMN)\s*(\w+) (TEXT|BIGINT)\b/g)])
        .map(([, column = "", type]) => [column, type === "TEXT" ? "text" : "integer"]),
    ),
  ]),
);
