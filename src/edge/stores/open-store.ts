// Opens an existing ledger together with its database, for commands that look before they change anything.
import type { Ledger } from "../../core/ledger/ledger.ts";
import { createLedger } from "./ledger/create-ledger.ts";
import { isConnectionString, openDatabase, type OpenOptions } from "./open-ledger.ts";
import type { Database } from "./sql/database.ts";
import { readSchema } from "./sql/migrate.ts";
import { tablesIn } from "./sqlite/foreign-file.ts";

export interface OpenStore {
  readonly database: Database;
  readonly ledger: Ledger;
}

/** Null if there is no ledger yet. Creates nothing. */
export async function openStore(
  where: string,
  options: OpenOptions = {},
): Promise<OpenStore | null> {
  return whileOpen(where, "look", options, async (database) =>
    (await readSchema(database)) === null
      ? null
      : { database, ledger: await createLedger(database) },
  );
}

/** Creates the ledger if there is none. */
export async function makeStore(where: string, options: OpenOptions = {}): Promise<OpenStore> {
  const made = await whileOpen(where, "make", options, async (database) => ({
    database,
    ledger: await createLedger(database),
  }));
  if (made === null) throw new Error("a store that may be made is opened");
  return made;
}

/** The database before any migration. The caller closes it. Null if there is none. */
export async function openUnmigrated(
  where: string,
  options: OpenOptions = {},
): Promise<Database | null> {
  return whileOpen(where, "look", options, (database) => Promise.resolve(database));
}

/** Opens the database, and closes it again unless the work returns a value that holds it. */
async function whileOpen<T>(
  where: string,
  how: "look" | "make",
  options: OpenOptions,
  work: (database: Database) => Promise<T | null>,
): Promise<T | null> {
  if (how === "look" && !isConnectionString(where) && tablesIn(where).length === 0) return null;
  const database = await openDatabase(where, options);
  let result: T | null = null;
  try {
    result = await work(database);
    return result;
  } finally {
    if (result === null) await database.close();
  }
}
