// Reading an export: every line checked before anything is written, and told by its number.
import { hashContent } from "../../../core/hash.ts";
import { hashMessageText } from "../../../core/ledger/message-text.ts";
import { StrataError } from "../../../core/strata-error.ts";
import type { ResultRow } from "../sql/database.ts";
import { columnsOf, tables, type Row, type TableName, type Value } from "../sql/tables.ts";
import { toCallRecord } from "./call-rows.ts";
import { toEvent } from "./event-rows.ts";
import { exportFormat } from "./export-session.ts";
import { toFold } from "./fold-rows.ts";
import { toThreadMessage } from "./message-rows.ts";
import { toKnown, toMove } from "./session-rows.ts";
import { toToolCall, toTurnRecord } from "./turn-rows.ts";

export interface ReadExport {
  readonly session: string;
  readonly rows: ReadonlyMap<TableName, readonly Row[]>;
}

export async function readExport(lines: AsyncIterable<string>): Promise<ReadExport> {
  const rows = new Map<TableName, Row[]>();
  let session: string | null = null;
  let number = 0;
  let count = 0;
  let ended: number | null = null;
  for await (const line of lines) {
    number += 1;
    if (line.trim() === "") continue;
    const [kind, value] = readLine(line, number);
    if (session === null) {
      session = readHeader(kind, value, number);
      continue;
    }
    if (kind === "end") {
      ended = readEnd(value, number);
      continue;
    }
    const table = tableNames.find((each) => each === kind);
    if (table === undefined) throw broken(number, `holds ${kind}, which an export does not write`);
    const row = readRow(table, value, number);
    count += 1;
    const known = rows.get(table);
    if (known === undefined) rows.set(table, [row]);
    else known.push(row);
  }
  if (session === null) throw broken(1, "is not the first line of an export");
  const found = rows.get("sessions")?.length ?? 0;
  if (found !== 1)
    throw broken(number, `ends the file, which holds ${found} sessions instead of one`);
  if (ended !== count) throw broken(number, "is the last one, and the file is not whole");
  return { session, rows };
}

const tableNames = Object.keys(tables).filter((name): name is TableName => name in tables);

function readLine(line: string, number: number): readonly [string, object] {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw broken(number, "is no JSON");
  }
  const [entry, ...more] = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const [kind, inner] = entry ?? ["", null];
  if (more.length > 0 || typeof inner !== "object" || inner === null) {
    throw broken(number, "is not one value by its kind");
  }
  return [kind, inner];
}

function readEnd(value: object, number: number): number {
  if ("rows" in value && typeof value.rows === "number") return value.rows;
  throw broken(number, "does not say how many rows there are");
}

function readHeader(kind: string, value: object, number: number): string {
  const isOurs = kind === "strata" && "format" in value && value.format === exportFormat;
  if (isOurs && "session" in value && typeof value.session === "string") return value.session;
  throw broken(number, `does not say ${exportFormat}`);
}

/** Every column, of its type, and nothing else; content is what its hash says. */
function readRow(table: TableName, value: object, number: number): Row {
  const columns = columnsOf(table);
  const given = new Map<string, unknown>(Object.entries(value));
  const row: Record<string, Value> = {};
  for (const [column, type] of Object.entries(columns)) {
    const cell = given.get(column);
    given.delete(column);
    row[column] = readCell(cell, column, type, `line ${number}`);
  }
  const [unknown] = given.keys();
  if (unknown !== undefined) throw broken(number, `has an unknown field ${unknown}`);
  const isTrue =
    table === "messages"
      ? row["hash"] ===
        hashMessageText(String(row["role"]), String(row["content"]), textOrNull(row["wire"]))
      : table !== "contents" || row["hash"] === hashContent(String(row["text"]));
  if (!isTrue) throw broken(number, "holds content that does not fit its hash");
  checkMeaning(table, { ...row, ...value }, number);
  if (table === "branches") checkBranch(row, number);
  return row;
}

/** Parents come first, so that no way up comes back to where it began. */
function checkBranch({ id, parent_branch_id: parent }: Row, number: number): void {
  const isFit = typeof id === "number" && (parent === null || Number(parent) < id);
  if (!isFit) throw broken(number, "is a branch that comes before its parent");
}

/** Whether a row can be read back: a value nobody knows would hurt whoever lists the ledger. */
function checkMeaning(table: TableName, row: ResultRow, number: number): void {
  try {
    readers[table]?.(row);
  } catch (error) {
    const problem = error instanceof Error ? error.message.split(": ").at(-1) : String(error);
    throw broken(number, `cannot be understood: ${problem}`);
  }
}

const noSums = {
  call_count: null,
  tool_call_count: 0,
  cost_pico_usd: null,
  uncached_tokens: null,
};

/** How each table's rows are read later. */
const readers: Readonly<Partial<Record<TableName, (row: ResultRow) => unknown>>> = {
  sessions: (row) => toKnown({ ...row, is_live: 0 }),
  session_history: toMove,
  turns: (row) => toTurnRecord({ ...row, ...noSums }),
  messages: (row) => toThreadMessage({ ...row, turn_id: "" }),
  calls: toCallRecord,
  tool_calls: toToolCall,
  compactions_v1: toFold,
  events: toEvent,
};

function textOrNull(value: Value | undefined): string | null {
  return typeof value === "string" ? value : null;
}

function readCell(cell: unknown, column: string, type: "text" | "integer", where: string): Value {
  if (cell === null) return null;
  if (type === "text" && typeof cell === "string") return cell;
  if (type === "integer" && typeof cell === "number" && Number.isSafeInteger(cell)) return cell;
  if (column === "cost_pico_usd" && typeof cell === "string" && isMoney(cell)) {
    return BigInt(cell);
  }
  throw new StrataError(
    "input-invalid",
    `${where} of the import has no fitting ${column}`,
    exportHint,
  );
}

/** What a column of whole numbers holds. */
function isMoney(text: string): boolean {
  return /^-?\d{1,19}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

const exportHint =
  "use a file that `strata sessions export` wrote, unchanged; nothing was imported";

function broken(number: number, problem: string): StrataError {
  return new StrataError("input-invalid", `line ${number} of the import ${problem}`, exportHint);
}
