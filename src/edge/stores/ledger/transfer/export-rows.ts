// Rows as lines of an export, without values that only mean something in this ledger.
import type { ResultRow } from "../../sql/database.ts";
import { columnNames, isMoney, type TableName } from "../../sql/tables.ts";
import type { Store } from "../store.ts";

/** Rows of a table as lines, with branch numbers instead of ids. */
export async function* rowsOf(
  { database }: Store,
  table: TableName,
  condition: string,
  values: readonly (string | number)[],
  numbers: ReadonlyMap<number, number>,
  { onRow, leftOut }: RowsOptions = {},
): AsyncGenerator<string> {
  const columns = columnNames(table);
  const selected = columns.map((column) => {
    if (isMoney(column)) return `CAST(${column} AS TEXT) AS ${column}`;
    return leftOut === undefined ? column : keptInFile(column, leftOut);
  });
  const sql = `SELECT ${selected.join(", ")} FROM ${table} WHERE ${condition}`;
  for (const row of await database.query(sql, values)) {
    onRow?.(row);
    yield line(table, portable(table, columns, row, numbers));
  }
}

interface RowsOptions {
  readonly onRow?: (row: ResultRow) => void;
  /** A branch and its last exported place. */
  readonly leftOut?: readonly [branchId: number, last: number];
}

/** A compaction whose kept turn is not in the file keeps only its summary. */
function keptInFile(column: string, [branchId, last]: readonly [number, number]): string {
  const instead = {
    first_kept_turn_id: "NULL",
    first_kept_index: "0",
    summarized_through_turn_id: "turn_id",
  };
  const value = new Map(Object.entries(instead)).get(column);
  if (value === undefined) return column;
  const isLeftOut = `COALESCE(first_kept_turn_id IN (SELECT id FROM turns WHERE branch_id = ${branchId} AND seq > ${last}), FALSE)`;
  return `CASE WHEN ${isLeftOut} THEN ${value} ELSE ${column} END AS ${column}`;
}

/** Replaces branch ids by numbers, and removes leases. */
function portable(
  table: TableName,
  columns: readonly string[],
  row: ResultRow,
  numbers: ReadonlyMap<number, number>,
): Readonly<Record<string, unknown>> {
  const plain: Record<string, unknown> = {};
  for (const column of columns) plain[column] = row[column];
  if (typeof plain["branch_id"] === "number") {
    plain["branch_id"] = numbers.get(plain["branch_id"]) ?? null;
  }
  if (table === "turns" && plain["status"] === "pending") plain["status"] = "interrupted";
  // Few turns change their model, and most calls pass through no gateway; an import takes a missing column for what older rows have.
  if (plain["switches_json"] === null) delete plain["switches_json"];
  if (plain["origin"] === "engine") delete plain["origin"];
  if (table === "calls" && plain["kind"] !== "gateway") {
    for (const column of gatewayColumns) delete plain[column];
  }
  if (table === "sessions") {
    Object.assign(plain, { lease_holder: null, lease_token: 0, lease_expires_ms: 0 });
  }
  return plain;
}

/** What only calls that the gateway saw have. */
const gatewayColumns: readonly string[] = [
  "first_byte_ms",
  "request_bytes",
  "response_bytes",
  "kept_blocks",
  "miss_byte",
  "upstream",
  "account",
  "gateway_key",
  "user_name",
  "team_name",
  "arm",
  "client_cost_pico_usd",
  "plain_cost_pico_usd",
];

export function line(kind: string, value: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ [kind]: value });
}
