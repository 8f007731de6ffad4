// The files a ledger consists of.
import { isConnectionString } from "./open-ledger.ts";

/** SQLite keeps two beside it while it is used; a server's are not ours. */
export function ledgerFiles(where: string): readonly string[] {
  return isConnectionString(where) ? [] : [where, `${where}-wal`, `${where}-shm`];
}
