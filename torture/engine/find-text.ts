// Searches a whole ledger for a text: the bytes of its files, every column of every row, its exports.
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import { isConnectionString, openDatabase } from "../../src/edge/stores/open-ledger.ts";
import type { Database } from "../../src/edge/stores/sql/database.ts";

/** The places found, in words. */
export async function findInLedger(
  where: string,
  ledger: Pick<Ledger, "listSessions" | "exportSession">,
  text: string,
): Promise<readonly string[]> {
  const places: string[] = [];
  const database = await openDatabase(where);
  try {
    for (const table of await listTables(database)) {
      const rows = await database.query(`SELECT * FROM ${table}`);
      const holding = rows.filter((row) => holds(row, text));
      if (holding.length > 0) places.push(`${holding.length} rows of ${table}`);
    }
  } finally {
    await database.close();
  }
  for (const { id } of await ledger.listSessions()) {
    for await (const line of ledger.exportSession(id)) {
      if (line.includes(text)) places.push(`the export of session ${id}`);
    }
  }
  return isConnectionString(where) ? places : [...places, ...findInFiles(where, text)];
}

async function listTables(database: Database): Promise<readonly string[]> {
  const rows = await database.query(
    database.kind === "sqlite"
      ? "SELECT name FROM sqlite_schema WHERE type = 'table'"
      : "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()",
  );
  return rows.map((row) => String(row["name"]));
}

function holds(row: Readonly<Record<string, unknown>>, text: string): boolean {
  return Object.values(row).some((value) =>
    value instanceof Uint8Array
      ? Buffer.from(value).includes(text)
      : typeof value === "string" && value.includes(text),
  );
}

/** Includes the files a database keeps beside its own. */
function findInFiles(file: string, text: string): readonly string[] {
  const folder = dirname(file);
  return readdirSync(folder)
    .filter((name) => name.startsWith(basename(file)))
    .filter((name) => readFileSync(join(folder, name)).includes(text))
    .map((name) => `the bytes of ${name}`);
}
