// What a dump wrote, back into an empty ledger of either kind, in one transaction.
import { hashContent } from "../../core/hash.ts";
import { hashMessageText } from "../../core/ledger/message-text.ts";
import { StrataError } from "../../core/strata-error.ts";
import { dumpFormat, dumpOrder } from "./dump-ledger.ts";
import type { Database } from "./sql/database.ts";
import { columnsOf, type ColumnType, type Row, type TableName, type Value } from "./sql/tables.ts";

export interface Restored {
  readonly sessions: number;
  readonly rows: number;
}

/** The database has this program's schema already. */
export function restoreLedger(
  database: Database,
  schema: number,
  lines: AsyncIterable<string>,
): Promise<Restored> {
  return database.exclusive(async (query) => {
    const [held] = await query("SELECT COUNT(*) AS count FROM sessions");
    if (Number(held?.["count"] ?? 0) > 0) throw notEmpty();
    const batches = createBatches(query);
    let [number, rows, sessions, isWhole] = [0, 0, 0, false];
    for await (const line of lines) {
      number += 1;
      if (line.trim() === "") continue;
      if (isWhole) throw broken(number, "comes after the last one");
      const [kind, value] = readLine(line, number);
      if (number === 1) checkHeader(kind, value, schema);
      else if (kind === "end") isWhole = isCountOf(value, rows, number);
      else {
        const table = dumpOrder.find((each) => each === kind);
        if (table === undefined) throw broken(number, `holds ${kind}, which a backup does not`);
        rows += 1;
        if (table === "sessions") sessions += 1;
        await batches.add(table, readRow(table, value, number));
      }
    }
    if (!isWhole) throw broken(number, "is the last one, and the backup goes on after it");
    await batches.flush();
    return { sessions, rows };
  });
}

interface Batches {
  add(table: TableName, row: Row): Promise<void>;
  flush(): Promise<void>;
}

const rowsPerInsert = 200;
const charactersPerInsert = 1_000_000;

function createBatches(query: Database["query"]): Batches {
  let table: TableName = "contents";
  let rows: Row[] = [];
  let characters = 0;
  const flush = async (): Promise<void> => {
    if (rows.length === 0) return;
    const columns = Object.keys(columnsOf(table));
    const places = `(${columns.map(() => "?").join(", ")})`;
    await query(
      `INSERT INTO ${table} (${columns.join(", ")}) VALUES ${rows.map(() => places).join(", ")}`,
      rows.flatMap((row) => columns.map((column) => row[column] ?? null)),
    );
    rows = [];
    characters = 0;
  };
  return {
    add: async (into, row) => {
      if (into !== table || rows.length >= rowsPerInsert || characters >= charactersPerInsert) {
        await flush();
      }
      table = into;
      rows.push(row);
      for (const value of Object.values(row)) {
        if (typeof value === "string") characters += value.length;
      }
    },
    flush,
  };
}

function readLine(line: string, number: number): readonly [string, object] {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw broken(number, "is no JSON");
  }
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const [kind, inner]: readonly [string, unknown] = entries[0] ?? ["", null];
  if (entries.length === 1 && typeof inner === "object" && inner !== null) return [kind, inner];
  throw broken(number, "is not one value by its kind");
}

function checkHeader(kind: string, value: object, schema: number): void {
  const isOurs = kind === "strata" && "format" in value && value.format === dumpFormat;
  if (!isOurs || !("schema" in value)) throw broken(1, `does not say ${dumpFormat}`);
  if (value.schema === schema) return;
  throw new StrataError(
    "input-invalid",
    `the backup was made of schema ${String(value.schema)}, and the ledger has schema ${schema}`,
    "restore it with the version of strata that made it, then open that ledger with this one",
  );
}

function isCountOf(value: object, rows: number, number: number): boolean {
  if ("rows" in value && value.rows === rows) return true;
  throw broken(number, `does not count the ${rows} rows before it`);
}

/** Every column, of its type, and nothing else; content is what its hash says. */
function readRow(table: TableName, value: object, number: number): Row {
  const given = new Map<string, unknown>(Object.entries(value));
  const row: Record<string, Value> = {};
  for (const [column, type] of Object.entries(columnsOf(table))) {
    const cell = readCell(given.get(column), column, type);
    if (cell === undefined) throw broken(number, `has no fitting ${column}`);
    row[column] = cell;
    given.delete(column);
  }
  const [unknown] = given.keys();
  if (unknown !== undefined) throw broken(number, `has an unknown field ${unknown}`);
  const hash = hashOf(table, row);
  if (hash !== undefined && hash !== row["hash"]) {
    throw broken(number, "holds content that does not fit its hash");
  }
  return row;
}

function readCell(cell: unknown, column: string, type: ColumnType): Value | undefined {
  if (cell === null) return null;
  if (type === "text") return typeof cell === "string" ? cell : undefined;
  if (typeof cell === "number" && Number.isSafeInteger(cell)) return cell;
  const isMoney = column === "cost_pico_usd" && typeof cell === "string";
  return isMoney && /^-?\d{1,18}$/.test(cell) ? BigInt(cell) : undefined;
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

function broken(number: number, problem: string): StrataError {
  return new StrataError(
    "input-invalid",
    `line ${number} of the backup ${problem}`,
    "use a whole file that `strata ledger backup` wrote; nothing was restored",
  );
}

function notEmpty(): StrataError {
  return new StrataError(
    "conflict",
    "the ledger holds sessions already, and a backup is restored into an empty one",
    "name another place with --store; nothing was restored",
  );
}
