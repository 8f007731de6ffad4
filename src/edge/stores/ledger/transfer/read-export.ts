// Reads an export. Checks every line before anything is written; errors name the line.
import type { Row, TableName } from "../../sql/tables.ts";
import { exportFormat } from "./export-session.ts";
import { createKeptLines, tableOrder } from "./kept-lines.ts";

const lines = createKeptLines(
  "import",
  "use a file that `strata sessions export` wrote, unchanged; nothing was imported",
);

export interface ReadExport {
  readonly session: string;
  readonly rows: ReadonlyMap<TableName, readonly Row[]>;
}

export async function readExport(source: AsyncIterable<string>): Promise<ReadExport> {
  const rows = new Map<TableName, Row[]>();
  let session: string | null = null;
  let number = 0;
  let count = 0;
  let ended: number | null = null;
  for await (const line of source) {
    number += 1;
    if (line.trim() === "") continue;
    const [kind, value] = lines.readLine(line, number);
    if (session === null) {
      session = readHeader(kind, value, number);
      continue;
    }
    if (kind === "end") {
      ended = readEnd(value, number);
      continue;
    }
    const table = tableOrder.find((each) => each === kind);
    if (table === undefined)
      throw lines.broken(number, `holds ${kind}, which is not part of an export`);
    const row = lines.readRow(table, value, number);
    if (table === "branches") checkBranch(row, number);
    count += 1;
    const known = rows.get(table);
    if (known === undefined) rows.set(table, [row]);
    else known.push(row);
  }
  if (session === null) throw lines.broken(1, "is not the first line of an export");
  const found = rows.get("sessions")?.length ?? 0;
  if (found !== 1)
    throw lines.broken(number, `ends the file, which holds ${found} sessions instead of one`);
  if (ended !== count) throw lines.broken(number, "is the last one, but the file is incomplete");
  return { session, rows };
}

function readEnd(value: object, number: number): number {
  if ("rows" in value && typeof value.rows === "number") return value.rows;
  throw lines.broken(number, "does not say how many rows there are");
}

function readHeader(kind: string, value: object, number: number): string {
  const isOurs = kind === "strata" && "format" in value && value.format === exportFormat;
  if (isOurs && "session" in value && typeof value.session === "string") return value.session;
  throw lines.broken(number, `does not say ${exportFormat}`);
}

/** Parents come first, so that the branches contain no cycle. */
function checkBranch({ id, parent_branch_id: parent }: Row, number: number): void {
  const isFit = typeof id === "number" && (parent === null || Number(parent) < id);
  if (!isFit) throw lines.broken(number, "is a branch that comes before its parent");
}
