// strata-context/sqlite: a ledger in one file.
import type { Ledger } from "../../../core/ledger/ledger.ts";
import { createLedger, type LedgerOptions } from "../ledger/create-ledger.ts";
import { openSqlite, type SqliteOptions } from "./open-sqlite.ts";

export type { LedgerOptions, SqliteOptions };

/** Creates the file if there is none, and migrates its schema. */
export function openSqliteLedger(options: SqliteOptions & LedgerOptions): Promise<Ledger> {
  return createLedger(openSqlite(options), options);
}
