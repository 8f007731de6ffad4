// Opens a ledger by its location: a file for one machine, a connection string for many.
import type { Ledger } from "../../core/ledger/ledger.ts";
import { createLedger, type LedgerOptions } from "./ledger/create-ledger.ts";
import type { Database } from "./sql/database.ts";
import { openSqlite } from "./sqlite/open-sqlite.ts";

export interface OpenOptions {
  /** Receives problems that fail no operation, such as waiting for a server. */
  readonly onProblem?: (problem: unknown) => void;
}

/** `postgres://…` or `postgresql://…`, else the path of a SQLite file, or `:memory:`. */
export async function openLedger(
  where: string,
  options: LedgerOptions & OpenOptions = {},
): Promise<Ledger> {
  return createLedger(await openDatabase(where, options), options);
}

export async function openDatabase(
  where: string,
  { onProblem }: OpenOptions = {},
): Promise<Database> {
  if (!isConnectionString(where)) return openSqlite({ file: where });
  // Loaded on demand: the driver is optional.
  const { openPostgres } = await import("./postgres/open-postgres.ts");
  return openPostgres({ url: where, ...(onProblem === undefined ? {} : { onProblem }) });
}

export function isConnectionString(where: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(where);
}

/** The files a ledger consists of. SQLite keeps companion files during use. A server's files are not ours. */
export function ledgerFiles(where: string): readonly string[] {
  return isConnectionString(where)
    ? []
    : [where, `${where}-wal`, `${where}-shm`, `${where}-journal`];
}
