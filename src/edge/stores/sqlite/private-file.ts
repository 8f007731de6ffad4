// Keeps a ledger private to its user: the file gets 0600, new folders 0700.
import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { isSystemError } from "../system-error.ts";
import { StrataError } from "../../../core/strata-error.ts";

export function makePrivate(file: string): void {
  try {
    makeFolder(dirname(file));
    // Before SQLite creates it with default permissions. SQLite's companion files copy these.
    closeSync(openSync(file, "a", 0o600));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    // If the file is readable but not writable, SQLite refuses it with its own reason.
    if (error.code === "EROFS" || (error.code === "EACCES" && exists(file))) return;
    throw new StrataError(
      "store-unavailable",
      `the ledger ${file} cannot be created: ${error.message}`,
      "name a file in a folder this user may write to, with --store",
      { cause: error },
    );
  }
}

/** One by one: Node's recursive mkdir never returns below a folder that allows none, such as /proc. */
function makeFolder(path: string): void {
  if (exists(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process was faster.
    if (!isSystemError(error) || error.code !== "EEXIST") throw error;
  }
}

function exists(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined;
}
