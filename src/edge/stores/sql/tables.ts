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
  "queue_items",
  "conversation_blocks",
  "gateway_runs",
  "conversation_states",
  "provider_resources",
  "key_spending",
] as const;

/** Made from the other tables, so no backup in lines contains them. */
export const derivedTables: readonly string[] = [
  "rollups",
  "rollup_names",
  "rollup_state",
  "changed_hours",
];

export type TableName = (typeof tableNames)[number];

/** For a SELECT. Money as text, because it can exceed a number. */
export function selected(table: TableName, alias: string = table): string {
  return Object.keys(columnsOf(table))
    .map((column) =>
      isMoney(column) ? `CAST(${alias}.${column} AS TEXT) AS ${column}` : `${alias}.${column}`,
    )
    .join(", ");
}

/** Whole pico-dollars, which can exceed a number. */
export function isMoney(column: string): boolean {
  return column.endsWith("cost_pico_usd");
}

export function columnsOf(table: TableName): Readonly<Record<string, ColumnType>> {
  return columns.get(table) ?? {};
}

/** In the order of `columnsOf`. */
export function columnNames(table: TableName): readonly string[] {
  return names.get(table) ?? [];
}

/** The columns that a later step added, with the value that older rows have. Files of earlier versions do not have them. */
export function laterColumnsOf(table: TableName): ReadonlyMap<string, Value> {
  return laterColumns.get(table) ?? new Map();
}

/** Both databases have the same columns, apart from the row numbers that SQLite needs for its full-text index. */
const statements = migrations
  .flatMap((step) => step.statements)
  .flatMap((each) => (typeof each === "string" ? [each] : each.sqlite));

interface Declared {
  readonly column: string;
  readonly type: ColumnType;
  readonly usual: Value;
}

/** What each statement about a table declares, the first one first. */
function declaredIn(table: TableName): readonly (readonly Declared[])[] {
  const pattern = /(?:[(,]|ADD COLUMN)\s*(\w+) (TEXT|BIGINT)\b(?:[^,\n]*? DEFAULT '(\w+)')?/g;
  return statements
    .filter((sql) => new RegExp(`^(?:CREATE|ALTER) TABLE ${table} `).test(sql))
    .map((sql) =>
      [...sql.matchAll(pattern)].map(([, column = "", type, usual = null]) => ({
        column,
        type: type === "TEXT" ? "text" : "integer",
        usual,
      })),
    );
}

const columns: ReadonlyMap<string, Readonly<Record<string, ColumnType>>> = new Map(
  tableNames.map((table) => [
    table,
    Object.fromEntries(
      declaredIn(table)
        .flat()
        .map(({ column, type }) => [column, type]),
    ),
  ]),
);

const names: ReadonlyMap<string, readonly string[]> = new Map(
  tableNames.map((table) => [table, Object.keys(columnsOf(table))]),
);

const laterColumns: ReadonlyMap<string, ReadonlyMap<string, Value>> = new Map(
  tableNames.map((table) => {
    const [first = [], ...later] = declaredIn(table);
    const known = new Set(first.map(({ column }) => column));
    const added = later.flat().filter(({ column }) => !known.has(column));
    return [table, new Map(added.map(({ column, usual }) => [column, usual]))];
  }),
);
