// strata-context/sqlite: a ledger in one file.
import type { Ledger } from "../../../core/ledger/ledger.ts";
import { createLedger, type LedgerOptions } from "../ledger/create-ledger.ts";
import { openSqlite, type SqliteOptions } from "./open-sqlite.ts";

export type { LedgerOptions, SqliteOptions };

/** Makes the file where there is none, and brings its schema up to date. */
export function openSqliteLedger(options: SqliteOptions & LedgerOptions): Promise<Ledger> {
  return createLedger(openSqlite(options), options);
}
