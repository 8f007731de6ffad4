// Writes a file whole or not at all, readable only by its user.
import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { StrataError } from "../../core/strata-error.ts";
import { removeAtEnd } from "./remove-at-end.ts";
import { isFull, isSystemError } from "./system-error.ts";

export interface PrivateFileOptions {
  /** Whether an existing file may be replaced. */
  readonly force: boolean;
  /** Files that are never replaced: the ledger itself. */
  readonly except?: readonly string[];
}

/** The work writes a temporary file, which replaces the target once it is complete and on disk. */
export async function writePrivateFile<T>(
  file: string,
  { force, except = [] }: PrivateFileOptions,
  work: (unfinished: string) => Promise<T>,
): Promise<T> {
  checkTarget(file, force, except);
  const unfinished = join(dirname(file), nameUnfinished(file, randomBytes(4).toString("hex")));
  // SQLite keeps a journal beside the file it writes.
  const companions = [unfinished, `${unfinished}-journal`];
  const stop = removeAtEnd(companions);
  try {
    closeSync(openSync(unfinished, "wx", 0o600));
    sweep(file);
    const result = await work(unfinished);
    reachDisk(unfinished);
    renameSync(unfinished, file);
    reachDisk(dirname(file));
    return result;
  } catch (error) {
    for (const each of companions) rmSync(each, { force: true });
    throw isSystemError(error) ? cannotWrite(file, error) : error;
  } finally {
    stop();
  }
}

function nameUnfinished(file: string, mark: string): string {
  return `.${basename(file)}.${mark}.part`;
}

/** A running writer touches its file more often than this. */
const leftAfterMs = 3_600_000;

/** Removes files that killed writers left behind. */
function sweep(file: string): void {
  const folder = dirname(file);
  const [before = "", after = ""] = nameUnfinished(file, "/").split("/");
  for (const name of readdirSync(folder)) {
    const mark = name.slice(before.length, before.length + 8);
    const isOurs = /^[0-9a-f]{8}$/.test(mark) && name.startsWith(`${before}${mark}${after}`);
    if (!isOurs) continue;
    const path = join(folder, name);
    const changedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (Date.now() - changedMs > leftAfterMs) rmSync(path, { force: true });
  }
}

function checkTarget(file: string, force: boolean, except: readonly string[]): void {
  const there = statSync(file, { throwIfNoEntry: false });
  if (there === undefined) return;
  const isLedger = except.some((each) => {
    const other = statSync(each, { throwIfNoEntry: false });
    return other !== undefined && other.ino === there.ino && other.dev === there.dev;
  });
  if (isLedger) {
    throw new StrataError("usage", `${file} is the ledger itself`, "name another file");
  }
  if (there.isDirectory()) {
    throw new StrataError("usage", `${file} is a folder`, "name a file in it");
  }
  if (force) return;
  throw new StrataError(
    "conflict",
    `${file} already exists`,
    "name another file, or replace it with --force",
  );
}

function reachDisk(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function cannotWrite(file: string, cause: NodeJS.ErrnoException): StrataError {
  return new StrataError(
    "environment-unfit",
    `${file} cannot be written: ${cause.message}`,
    isFull(cause)
      ? "free some space or name a file on another disk; the partial file was removed"
      : "name a file in a folder that is there and that this user may write to",
    { cause },
  );
}
