// A ledger that is there already, with the database below it: for commands that look before they change anything.
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { Ledger } from "../../core/ledger/ledger.ts";
import { StrataError } from "../../core/strata-error.ts";
import { createLedger } from "./ledger/create-ledger.ts";
import { isConnectionString, openDatabase } from "./open-ledger.ts";
import type { Database } from "./sql/database.ts";
import { readSchema } from "./sql/migrate.ts";
import { toStoreError } from "./sqlite/sqlite-errors.ts";

export interface OpenStore {
  readonly database: Database;
  readonly ledger: Ledger;
}

/** Null where no ledger is yet; then nothing is made. */
export async function openStore(where: string): Promise<OpenStore | null> {
  return whileOpen(where, "look", async (database) =>
    (await readSchema(database)) === null
      ? null
      : { database, ledger: await createLedger(database) },
  );
}

/** Makes the ledger where none is yet. */
export async function makeStore(where: string): Promise<OpenStore> {
  const made = await whileOpen(where, "make", async (database) => ({
    database,
    ledger: await createLedger(database),
  }));
  if (made === null) throw new Error("a store that may be made is opened");
  return made;
}

/** As it is found, before any migration. The caller closes it; null where nothing is. */
export async function openUnmigrated(where: string): Promise<Database | null> {
  return whileOpen(where, "look", (database) => Promise.resolve(database));
}

/** Opens, and closes again unless the work gives something that holds it. */
async function whileOpen<T>(
  where: string,
  how: "look" | "make",
  work: (database: Database) => Promise<T | null>,
): Promise<T | null> {
  if (!isConnectionString(where) && !holdsTables(where) && how === "look") return null;
  const database = await openDatabase(where);
  let result: T | null = null;
  try {
    result = await work(database);
    return result;
  } finally {
    if (result === null) await database.close();
  }
}

/**
 * Whether a file is a database with something in it. One that holds other programs' tables is refused before it is
 * opened for real, which changes its permissions and its journal.
 */
function holdsTables(file: string): boolean {
  if (file === ":memory:" || (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) {
    return false;
  }
  const names = tableNames(file);
  if (names.length === 0 || names.includes("strata_schema")) return names.length > 0;
  throw new StrataError(
    "store-unavailable",
    `${file} is a SQLite database of another program, with the table ${names[0] ?? ""}`,
    "name another file with --store; nothing was changed",
  );
}

function tableNames(file: string): readonly string[] {
  let connection: DatabaseSync | undefined;
  try {
    connection = new DatabaseSync(file, { timeout: 5000 });
    const rows = connection
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
      .all();
    return rows.map(({ name }) => String(name));
  } catch (error) {
    throw toStoreError(error, file);
  } finally {
    if (connection?.isOpen === true) connection.close();
  }
}
