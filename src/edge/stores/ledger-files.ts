// The files a ledger consists of.
import { isConnectionString } from "./open-ledger.ts";

/** SQLite keeps companion files during use. A server's files are not ours. */
export function ledgerFiles(where: string): readonly string[] {
  return isConnectionString(where)
    ? []
    : [where, `${where}-wal`, `${where}-shm`, `${where}-journal`];
}
