// A file that appears whole or not at all, for its user alone.
import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { StrataError } from "../../core/strata-error.ts";

export interface PrivateFileOptions {
  /** Whether a file that is there may be replaced. */
  readonly force: boolean;
  /** What is never replaced: the ledger itself. */
  readonly except?: readonly string[];
}

/** The work writes into a file beside the one that is wanted, which it becomes when it is whole and on the disk. */
export async function writePrivateFile<T>(
  file: string,
  { force, except = [] }: PrivateFileOptions,
  work: (unfinished: string) => Promise<T>,
): Promise<T> {
  checkTarget(file, force, except);
  const unfinished = join(
    dirname(file),
    `.${basename(file)}.${randomBytes(4).toString("hex")}.part`,
  );
  try {
    closeSync(openSync(unfinished, "wx", 0o600));
    const result = await work(unfinished);
    reachDisk(unfinished);
    renameSync(unfinished, file);
    reachDisk(dirname(file));
    return result;
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw isSystemError(error) ? cannotWrite(file, error) : error;
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
    `${file} is there already`,
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
  const isFull = cause.code === "ENOSPC" || cause.code === "EFBIG" || cause.code === "EDQUOT";
  return new StrataError(
    "environment-unfit",
    `${file} cannot be written: ${cause.message}`,
    isFull
      ? "make room or name a file on another disk; nothing of it was left behind"
      : "name a file in a folder that is there and that this user may write to",
    { cause },
  );
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error && "syscall" in error;
}
