// Rows as lines of JSON, one value per line, keyed by its kind. Every column is checked on reading.
import { hashContent } from "../../../../core/hash.ts";
import { hashMessageText } from "../../../../core/ledger/message-text.ts";
import { StrataError } from "../../../../core/strata-error.ts";
import type { ResultRow } from "../../sql/database.ts";
import {
  columnsOf,
  type ColumnType,
  type Row,
  type TableName,
  type Value,
} from "../../sql/tables.ts";
import { toCallRecord } from "../turns/call-rows.ts";
import { toEvent } from "../event-rows.ts";
import { toCompaction } from "../compactions/compaction-rows.ts";
import { toThreadMessage } from "../message-rows.ts";
import { toKnown, toMove } from "../sessions/session-rows.ts";
import { toToolCall, toTurnRecord } from "../turns/turn-rows.ts";

/** Every row refers only to rows before it. Leaves out locks, which mean nothing in a file, and derived rows. */
export const tableOrder: readonly TableName[] = [
  "contents",
  "turns",
  "branches",
  "sessions",
  "session_history",
  "messages",
  "calls",
  "tool_calls",
  "compactions_v1",
  "events",
];

export interface KeptLines {
  readLine(line: string, number: number): readonly [kind: string, value: object];
  /** Requires every column with its type, no others, and content that matches its hash. */
  readRow(table: TableName, value: object, number: number): Row;
  broken(number: number, problem: string): StrataError;
}

/** `what` names the file in errors; `hint` says what to do about one. */
export function createKeptLines(what: string, hint: string): KeptLines {
  const broken = (number: number, problem: string): StrataError =>
    new StrataError("input-invalid", `line ${number} of the ${what} ${problem}`, hint);
  return {
    broken,
    readLine: (line, number) => {
      const read = parseLine(line);
      if (typeof read === "string") throw broken(number, read);
      return read;
    },
    readRow: (table, value, number) => {
      const read = parseRow(table, value);
      if (typeof read === "string") throw broken(number, read);
      return read;
    },
  };
}

/** The kind and value, or what is wrong. */
function parseLine(line: string): readonly [string, object] | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return "is not JSON";
  }
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const [kind, inner]: readonly [string, unknown] = entries[0] ?? ["", null];
  const isOne = entries.length === 1 && typeof inner === "object" && inner !== null;
  return isOne ? [kind, inner] : "is not one value by its kind";
}

/** The row, or what is wrong. */
function parseRow(table: TableName, value: object): Row | string {
  const given = new Map<string, unknown>(Object.entries(value));
  const row: Record<string, Value> = {};
  for (const [column, type] of Object.entries(columnsOf(table))) {
    const cell = readCell(given.get(column), column, type);
    if (cell === undefined) return `has no fitting ${column}`;
    row[column] = cell;
    given.delete(column);
  }
  const [unknown] = given.keys();
  if (unknown !== undefined) return `has an unknown field ${unknown}`;
  const hash = hashOf(table, row);
  if (hash !== undefined && hash !== row["hash"])
    return "holds content that does not match its hash";
  return findUnreadable(table, { ...row, ...value }) ?? row;
}

function readCell(cell: unknown, column: string, type: ColumnType): Value | undefined {
  if (cell === null) return null;
  if (type === "text") return typeof cell === "string" ? cell : undefined;
  if (typeof cell === "number" && Number.isSafeInteger(cell)) return cell;
  const isMoney = column === "cost_pico_usd" && typeof cell === "string";
  if (!isMoney || !/^-?\d{1,19}$/.test(cell)) return undefined;
  return BigInt.asIntN(64, BigInt(cell)) === BigInt(cell) ? BigInt(cell) : undefined;
}

function hashOf(table: TableName, row: Row): string | undefined {
  if (table === "contents") return hashContent(String(row["text"]));
  if (table !== "messages") return undefined;
  const wire = row["wire"];
  return hashMessageText(
    String(row["role"]),
    String(row["content"]),
    typeof wire === "string" ? wire : null,
  );
}

/** An unknown value would break later reads of the ledger. Null if the row can be read back. */
function findUnreadable(table: TableName, row: ResultRow): string | null {
  try {
    readers[table]?.(row);
    return null;
  } catch (error) {
    const problem = error instanceof Error ? error.message.split(": ").at(-1) : String(error);
    return `cannot be understood: ${problem}`;
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
  messages: (row) => toThreadMessage({ ...row, turn_id: "", model: "", provider: "" }),
  calls: toCallRecord,
  tool_calls: toToolCall,
  compactions_v1: toCompaction,
  events: toEvent,
};
