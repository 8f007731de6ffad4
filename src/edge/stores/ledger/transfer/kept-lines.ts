// Rows as lines of JSON, one value per line, keyed by its kind. Every column is checked on reading.
import { hashContent } from "../../../../core/hash.ts";
import { hashMessageText } from "../../../../core/ledger/message-text.ts";
import { StrataError } from "../../../../core/strata-error.ts";
import type { ResultRow } from "../../sql/database.ts";
import {
  columnsOf,
  isMoney,
  laterColumnsOf,
  type ColumnType,
  type Row,
  type TableName,
  type Value,
} from "../../sql/tables.ts";
import { toAnyCall, toBlock } from "../gateway/gateway-rows.ts";
import { toEvent } from "../event-rows.ts";
import { toResource } from "../resources.ts";
import { toQueueItem } from "../queue-items.ts";
import { toCompaction } from "../compactions/compaction-rows.ts";
import { toThreadMessage } from "../message-rows.ts";
import { toKnown, toMove } from "../sessions/session-rows.ts";
import { toToolCall, toTurnRecord } from "../turns/turn-rows.ts";

/** Every row refers only to rows before it. Leaves out locks and runs of processes, which mean nothing in a file, and derived rows. */
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
  "queue_items",
  "conversation_blocks",
  "provider_resources",
  "key_spending",
];

/** A file of rows: a header, the rows, and a last line with their count. */
export interface KeptFile {
  /** Its name in errors, such as "backup". */
  readonly what: string;
  readonly format: string;
  /** What to do about a broken one. */
  readonly hint: string;
}

export interface KeptRow {
  readonly table: TableName;
  readonly row: Row;
  /** The line it stands on, from 1. */
  readonly number: number;
}

export function brokenLine({ what, hint }: KeptFile, number: number, problem: string): StrataError {
  return new StrataError("input-invalid", `line ${number} of the ${what} ${problem}`, hint);
}

/**
 * Requires every column with its type, no others, and content that matches its hash. A column that a file of an earlier
 * version does not have gets the value that older rows have.
 */
export async function* readKeptRows(
  file: KeptFile,
  lines: AsyncIterable<string>,
  onHeader: (header: ReadonlyMap<string, unknown>) => void,
): AsyncGenerator<KeptRow> {
  let [number, count, isWhole] = [0, 0, false];
  const check = <T extends object>(read: T | string): T => {
    if (typeof read === "string") throw brokenLine(file, number, read);
    return read;
  };
  for await (const line of lines) {
    number += 1;
    if (line.trim() === "") continue;
    if (isWhole) throw brokenLine(file, number, "comes after the last one");
    const [kind, value] = check(parseLine(line));
    if (number === 1) {
      onHeader(check(parseHeader(kind, value, file.format)));
    } else if (kind === "end") {
      check(parseEnd(value, count));
      isWhole = true;
    } else {
      const table = tableOrder.find((each) => each === kind);
      if (table === undefined)
        throw brokenLine(file, number, `holds ${kind}, which is not part of it`);
      count += 1;
      yield { table, row: check(parseRow(table, value)), number };
    }
  }
  if (!isWhole)
    throw brokenLine(file, number, `is the last one, but the ${file.what} is incomplete`);
}

function parseHeader(
  kind: string,
  value: object,
  format: string,
): ReadonlyMap<string, unknown> | string {
  const header = new Map<string, unknown>(Object.entries(value));
  return kind === "strata" && header.get("format") === format ? header : `does not say ${format}`;
}

function parseEnd(value: object, count: number): object | string {
  const isCount = "rows" in value && value.rows === count;
  return isCount ? value : `gives a count other than the ${count} rows before it: it is incomplete`;
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
  for (const [column, usual] of laterColumnsOf(table)) {
    if (!given.has(column)) given.set(column, usual);
  }
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
  if (!isMoney(column) || typeof cell !== "string") return undefined;
  if (!/^-?\d{1,19}$/.test(cell)) return undefined;
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
  compaction_cost: null,
  uncached_tokens: null,
};

/** How each table's rows are read later. */
export const readers: Readonly<Partial<Record<TableName, (row: ResultRow) => unknown>>> = {
  sessions: (row) => toKnown({ ...row, is_live: 0 }),
  session_history: toMove,
  turns: (row) => toTurnRecord({ ...row, ...noSums }),
  messages: (row) => toThreadMessage({ ...row, turn_id: "", model: "", provider: "" }),
  calls: toAnyCall,
  tool_calls: toToolCall,
  compactions_v1: toCompaction,
  events: toEvent,
  queue_items: toQueueItem,
  conversation_blocks: toBlock,
  provider_resources: toResource,
};
