// A checked copy of a SQLite ledger in one file, as of one moment, while others write to it.
import { backup, DatabaseSync } from "node:sqlite";
import { StrataError } from "../../core/strata-error.ts";
import { ledgerFiles } from "./open-ledger.ts";
import { sqliteCode } from "./sqlite/sqlite-errors.ts";
import { writePrivateFile } from "./write-private-file.ts";

export interface CopyOptions {
  readonly source: { readonly connection: DatabaseSync; readonly file: string };
  readonly target: string;
  readonly force: boolean;
  readonly onProgress: (done: number, total: number) => void;
}

export async function copySqlite({
  source,
  target,
  force,
  onProgress,
}: CopyOptions): Promise<void> {
  const { connection, file } = source;
  await writePrivateFile(target, { force, except: ledgerFiles(file) }, async (unfinished) => {
    // SQLite restarts a copy on every commit unless a read transaction holds the source still.
    connection.exec("BEGIN");
    try {
      connection.prepare("SELECT COUNT(*) FROM strata_schema").get();
      await backup(connection, unfinished, {
        rate: pagesPerStep,
        progress: ({ totalPages, remainingPages }) =>
          onProgress(totalPages - remainingPages, totalPages),
      });
    } catch (error) {
      throw explain(error, target);
    } finally {
      connection.exec("ROLLBACK");
    }
    checkCopy(unfinished, file, target);
  });
}

const pagesPerStep = 2000;

/** A damaged ledger must not replace a good backup. */
function checkCopy(copy: string, file: string, target: string): void {
  const connection = new DatabaseSync(copy);
  try {
    // One file without companions can be moved and read from a read-only medium.
    connection.exec("PRAGMA journal_mode = DELETE");
    const [row] = connection.prepare("PRAGMA quick_check(1)").all();
    if (row?.["quick_check"] === "ok") return;
  } catch (error) {
    if (sqliteCode(error) !== 11) throw explain(error, target);
  } finally {
    connection.close();
  }
  throw new StrataError(
    "store-unavailable",
    `the ledger ${file} is damaged, so no backup was made of it`,
    "keep a copy of the file, run `strata ledger check` for details, and restore the last good backup",
  );
}

function explain(error: unknown, target: string): unknown {
  const code = sqliteCode(error);
  if (code === undefined || !(error instanceof Error)) return error;
  const isTargets = code === 10 || code === 13 || code === 14;
  return new StrataError(
    isTargets ? "environment-unfit" : "store-unavailable",
    `the backup ${target} could not be written: ${error.message}`,
    isTargets
      ? "free some space or name a file on another disk; the partial backup was removed, and the ledger is unchanged"
      : "run `strata ledger check`; nothing of the backup was left behind",
    { cause: error },
  );
}
