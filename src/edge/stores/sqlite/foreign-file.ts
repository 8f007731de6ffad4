// Refuses files of other programs.
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { StrataError } from "../../../core/strata-error.ts";
import { toStoreError } from "./sqlite-errors.ts";

/** Runs before the file is opened for real, which would change its journal. */
export function refuseForeign(file: string): void {
  const names = tablesIn(file);
  if (names.length === 0 || names.includes("strata_schema")) return;
  throw new StrataError(
    "store-unavailable",
    `${file} is a SQLite database of another program, with the table ${names[0] ?? ""}`,
    "name another file with --store; nothing was changed",
  );
}

/** The table names, sorted. None for a missing or empty file. */
export function tablesIn(file: string): readonly string[] {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || found.size === 0) return [];
  if (found.isDirectory()) {
    throw new StrataError(
      "store-unavailable",
      `the ledger ${file} cannot be opened: it is a folder`,
      "name a file in it with --store",
    );
  }
  let connection: DatabaseSync | undefined;
  try {
    connection = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
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
