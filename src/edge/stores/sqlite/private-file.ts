// What a ledger holds is for its user alone: the file is made 0600, in a folder that is made 0700.
import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { isSystemError } from "../system-error.ts";
import { StrataError } from "../../../core/strata-error.ts";

export function makePrivate(file: string): void {
  try {
    makeFolder(dirname(file));
    // Before SQLite makes it with the user's default permissions; its own further files take over these.
    closeSync(openSync(file, "a", 0o600));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    // A file that may be read and not written is for SQLite to refuse, with its own reason.
    if (error.code === "EROFS" || (error.code === "EACCES" && exists(file))) return;
    throw new StrataError(
      "store-unavailable",
      `the ledger ${file} cannot be made: ${error.message}`,
      "name a file in a folder this user may write to, with --store",
      { cause: error },
    );
  }
}

/** One after the other: Node's own way never ends below a folder where none can be made, such as /proc. */
function makeFolder(path: string): void {
  if (exists(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Somebody else was faster.
    if (!isSystemError(error) || error.code !== "EEXIST") throw error;
  }
}

function exists(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined;
}
