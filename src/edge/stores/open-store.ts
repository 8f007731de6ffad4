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
  const database = await openUnmigrated(where, options);
  if (database === null) return null;
  try {
    const isLedger = (await readSchema(database)) !== null;
    if (isLedger) return { database, ledger: await createLedger(database) };
  } catch (error) {
    await database.close();
    throw error;
  }
  await database.close();
  return null;
}

/** Creates the ledger if there is none. */
export async function makeStore(where: string, options: OpenOptions = {}): Promise<OpenStore> {
  const database = await openDatabase(where, options);
  return { database, ledger: await createLedger(database) };
}

/** Closes the store or database after the work, also if it fails. */
export async function closing<Result>(
  opened: { close(): Promise<void> },
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } finally {
    await opened.close();
  }
}

/** The database before any migration. The caller closes it. Null if there is none. */
export async function openUnmigrated(
  where: string,
  options: OpenOptions = {},
): Promise<Database | null> {
  if (!isConnectionString(where) && tablesIn(where).length === 0) return null;
  return openDatabase(where, options);
}
