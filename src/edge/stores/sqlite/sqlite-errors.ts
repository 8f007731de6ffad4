// Turns SQLite errors into one sentence and advice. Codes: https://www.sqlite.org/rescode.html
import { StrataError } from "../../../core/strata-error.ts";
import { repairHint } from "../sql/read-row.ts";

/** The primary result code. Undefined for other errors. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}

const busy = 5;
const locked = 6;
const constraint = 19;

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === busy || code === locked;
}

/** The table whose key is taken. Undefined for any other error. */
export function takenTable(error: unknown): string | undefined {
  if (sqliteCode(error) !== constraint || !(error instanceof Error)) return undefined;
  return /^UNIQUE constraint failed: (\w+)\./.exec(error.message)?.[1];
}

/** Whether a foreign key was violated, in either direction. */
export function breaksReference(error: unknown): boolean {
  return (
    sqliteCode(error) === constraint &&
    error instanceof Error &&
    error.message.startsWith("FOREIGN KEY")
  );
}

/** Any other SQLite error, for people. Returns other errors unchanged. */
export function toStoreError(error: unknown, file: string): unknown {
  const code = sqliteCode(error);
  if (error instanceof Error && "code" in error && error.code === "ERR_INVALID_STATE") {
    return new StrataError("usage", `the ledger ${file} is closed`, "open it again");
  }
  if (error instanceof Error && "code" in error && error.code === "ERR_OUT_OF_RANGE") {
    const problem = "is damaged: a number in it is too large to be true";
    return new StrataError("store-unavailable", `the ledger ${file} ${problem}`, repairHint);
  }
  if (code === undefined || !(error instanceof Error)) return error;
  const [problem, hint] = explanations[code] ?? [
    `failed: ${error.message}`,
    "run `strata ledger check`",
  ];
  return new StrataError("store-unavailable", `the ledger ${file} ${problem}`, hint, {
    cause: error,
  });
}

const explanations: Readonly<Record<number, readonly [string, string]>> = {
  3: ["may not be used", "give this user read and write permission on the file and its folder"],
  [busy]: [
    "is locked by another process for too long",
    "see which program keeps a transaction open on it, then try again; nothing was written",
  ],
  [locked]: ["is locked by another statement", "try again; nothing was written"],
  8: [
    "cannot be written: the file or its folder is read-only",
    "give this user write permission on both, or name another place with --store; nothing was written",
  ],
  10: [
    "cannot be read or written: the disk reports an error",
    "check the disk, then run `strata ledger check`",
  ],
  11: [
    "is damaged",
    "keep a copy of the file, then restore the last backup made with `strata ledger backup`",
  ],
  13: [
    "cannot grow: the disk or the file's limit is full",
    "free some space and try again; acknowledged data is safe, and this write was not stored",
  ],
  14: [
    "cannot be opened",
    "check that the path names a file in a folder this user may write to, or name another with --store",
  ],
  [constraint]: ["refused a row that breaks its rules", "run `strata ledger check`"],
  26: ["is not a SQLite database", "name another file with --store, or restore a backup"],
};
