// Restores a dump into an empty ledger of either kind, in one transaction.
import { StrataError } from "../../core/strata-error.ts";
import { dumpFormat } from "./dump-ledger.ts";
import { readKeptRows, type KeptFile } from "./ledger/transfer/kept-lines.ts";
import type { Database } from "./sql/database.ts";
import { columnNames, type Row, type TableName } from "./sql/tables.ts";

const file: KeptFile = {
  what: "backup",
  format: dumpFormat,
  hint: "use a whole file that `strata ledger backup` wrote; nothing was restored",
};

export interface Restored {
  readonly sessions: number;
  readonly rows: number;
}

/** The database already has this program's schema. No other process writes to it during the restore. */
export function restoreLedger(
  database: Database,
  schema: number,
  lines: AsyncIterable<string>,
): Promise<Restored> {
  return database.exclusive(async (query) => {
    const [held] = await query("SELECT COUNT(*) AS count FROM sessions");
    if (Number(held?.["count"] ?? 0) > 0) throw notEmpty();
    const batches = createBatches(query);
    let [rows, sessions] = [0, 0];
    const checked = readKeptRows(file, lines, (header) =>
      checkSchema(header.get("schema"), schema),
    );
    for await (const { table, row } of checked) {
      rows += 1;
      if (table === "sessions") sessions += 1;
      await batches.add(table, row);
    }
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
    const columns = columnNames(table);
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

/** What later steps added has a value in older rows, too. */
function checkSchema(found: unknown, schema: number): void {
  if (typeof found === "number" && found <= schema) return;
  throw new StrataError(
    "input-invalid",
    `the backup has schema ${String(found)}, but the ledger has schema ${schema}`,
    "restore it with the version of strata that made it, or a later one",
  );
}

function notEmpty(): StrataError {
  return new StrataError(
    "conflict",
    "the ledger already has sessions; a backup can only be restored into an empty one",
    "name another place with --store; nothing was restored",
  );
}
