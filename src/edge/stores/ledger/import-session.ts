// What an export wrote, back into a ledger: checked line by line, then written in one commit.
import { hashContent } from "../../../core/hash.ts";
import { hashMessageText } from "../../../core/ledger/message-text.ts";
import type { SessionRecord } from "../../../core/ledger/session-record.ts";
import { StrataError } from "../../../core/strata-error.ts";
import type { Commit, Write } from "../sql/database.ts";
import { columnsOf, tables, type Row, type TableName, type Value } from "../sql/tables.ts";
import { exportFormat } from "./export-session.ts";
import { findKnown } from "./session-rows.ts";
import { needSession } from "./session-rows.ts";
import { commitBranching, conflict, type Store } from "./store.ts";

/** Every row refers only to what was written before it. */
const order: readonly TableName[] = [
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

export async function importSession(
  store: Store,
  lines: AsyncIterable<string>,
  as?: string,
): Promise<SessionRecord> {
  const read = await readLines(lines);
  const id = as ?? read.session;
  if ((await findKnown(store, id)) !== null) {
    throw conflict(`session ${id} exists already`, "import it under another name with --as NAME");
  }
  const result = await commitBranching(store, () => importCommit(renamed(store, read, id), id));
  if (result.kind === "done") return (await needSession(store, id)).record;
  throw conflict(
    "the import holds turns or events that are in this ledger already, in another session",
    "fork that session instead; nothing was imported",
  );
}

function importCommit(rows: ReadonlyMap<TableName, readonly Row[]>, id: string): Commit {
  return {
    inOrder: true,
    guards: [],
    writes: order.flatMap((table): readonly Write[] => {
      const found = rows.get(table) ?? [];
      if (found.length === 0) return [];
      return [{ into: table, rows: found, orIgnore: table === "contents" }];
    }),
    landed: {
      sql: "SELECT 1 AS landed FROM sessions WHERE id = ? AND branch_id = ?",
      values: [id, rows.get("sessions")?.[0]?.["branch_id"] ?? null],
    },
    advanced: [id],
  };
}

interface ReadExport {
  readonly session: string;
  readonly rows: ReadonlyMap<TableName, readonly Row[]>;
}

async function readLines(lines: AsyncIterable<string>): Promise<ReadExport> {
  const rows = new Map<TableName, Row[]>();
  let session: string | null = null;
  let number = 0;
  for await (const line of lines) {
    number += 1;
    if (line.trim() === "") continue;
    const [kind, value] = readLine(line, number);
    if (session === null) {
      session = readHeader(kind, value);
      continue;
    }
    const table = tableNames.find((each) => each === kind);
    if (table === undefined) throw broken(number, `holds ${kind}, which an export does not write`);
    const row = readRow(table, value, number);
    const known = rows.get(table);
    if (known === undefined) rows.set(table, [row]);
    else known.push(row);
  }
  if (session === null) throw broken(1, "is not the first line of an export");
  const found = rows.get("sessions")?.length ?? 0;
  if (found !== 1)
    throw broken(number, `ends the file, which holds ${found} sessions instead of one`);
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

function readHeader(kind: string, value: object): string {
  const isOurs = kind === "strata" && "format" in value && value.format === exportFormat;
  if (isOurs && "session" in value && typeof value.session === "string") return value.session;
  throw broken(1, `does not say ${exportFormat}`);
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
  return row;
}

function textOrNull(value: Value | undefined): string | null {
  return typeof value === "string" ? value : null;
}

function readCell(cell: unknown, column: string, type: "text" | "integer", where: string): Value {
  if (cell === null) return null;
  if (type === "text" && typeof cell === "string") return cell;
  if (type === "integer" && typeof cell === "number" && Number.isSafeInteger(cell)) return cell;
  if (column === "cost_pico_usd" && typeof cell === "string" && /^-?\d{1,18}$/.test(cell)) {
    return BigInt(cell);
  }
  throw new StrataError(
    "input-invalid",
    `${where} of the import has no fitting ${column}`,
    exportHint,
  );
}

const exportHint =
  "use a file that `strata sessions export` wrote, unchanged; nothing was imported";

function broken(number: number, problem: string): StrataError {
  return new StrataError("input-invalid", `line ${number} of the import ${problem}`, exportHint);
}

/** Branches get ids of this ledger, and the session its name. */
function renamed(
  store: Store,
  { session, rows }: ReadExport,
  id: string,
): ReadonlyMap<TableName, readonly Row[]> {
  const branches = new Map<Value, number>();
  for (const row of rows.get("branches") ?? [])
    branches.set(row["id"] ?? null, store.newBranchId());
  const branchOf = (value: Value | undefined): Value => branches.get(value ?? null) ?? null;
  const rename = (value: Value | undefined): Value => (value === session ? id : (value ?? null));
  return new Map(
    [...rows].map(([table, list]) => [
      table,
      list.map((row) => ({
        ...row,
        ...("branch_id" in row ? { branch_id: branchOf(row["branch_id"]) } : {}),
        ...("session_id" in row ? { session_id: rename(row["session_id"]) } : {}),
        ...(table === "sessions" ? { id: rename(row["id"]) } : {}),
        ...(table === "branches"
          ? { id: branchOf(row["id"]), parent_branch_id: branchOf(row["parent_branch_id"]) }
          : {}),
      })),
    ]),
  );
}
