// Calls of a window as lines for a warehouse, in order of time: numbers and names, no plan, no outcome and no content.
import type { ResultRow, Snapshot } from "./sql/database.ts";
import { columnNames, selected } from "./sql/tables.ts";

export const exportFormats = ["ndjson", "csv", "parquet"] as const;

export type ExportFormat = (typeof exportFormats)[number];

/** What only the ledger itself needs. */
const ownColumns: ReadonlySet<string> = new Set(["plan_json", "outcome_json", "entry_hash"]);

export const exportedColumns: readonly string[] = columnNames("calls").filter(
  (column) => !ownColumns.has(column),
);

export interface ExportWindow {
  readonly startMs: number;
  readonly endMs: number;
}

/** In order of time. */
export function readCalls(
  snapshot: Pick<Snapshot, "rows">,
  { startMs, endMs }: ExportWindow,
): AsyncIterable<ResultRow> {
  return snapshot.rows(
    `SELECT ${selected("calls", "c")} FROM calls c WHERE c.started_ms >= ${startMs} AND c.started_ms < ${endMs} ORDER BY c.started_ms`,
  );
}

/** CSV begins with the names of its columns. Money is whole pico-dollars, in JSON as text: it can exceed a number. */
export async function* exportCalls(
  snapshot: Pick<Snapshot, "rows">,
  window: ExportWindow,
  format: Exclude<ExportFormat, "parquet">,
): AsyncGenerator<string> {
  if (format === "csv") yield exportedColumns.join(",");
  for await (const row of readCalls(snapshot, window)) {
    yield format === "csv"
      ? exportedColumns.map((column) => toCell(row[column])).join(",")
      : JSON.stringify(Object.fromEntries(exportedColumns.map((column) => [column, row[column]])));
  }
}

/** As RFC 4180 quotes. Nothing for null. A text that a spreadsheet would run as a formula begins with a quote mark. */
function toCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  const given = typeof value === "string" ? value : JSON.stringify(value);
  const text = /^[=+@\t\r]|^-\D/.test(given) ? `'${given}` : given;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
