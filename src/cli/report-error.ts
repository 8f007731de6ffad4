// An error on stderr: two lines for what a person can mend, and the stack of everything else.
import { exitStatusOf, StrataError } from "../core/strata-error.ts";
import { isSystemError } from "../edge/stores/system-error.ts";
import type { Io } from "./command.ts";
import { hang } from "./table.ts";
import { windowColumns } from "./window.ts";
import { toPrintable } from "./ledger/render-ledger.ts";

/** Returns the exit status. */
export function reportError(thrown: unknown, isDebugging: boolean, io: Io): number {
  const error = aboutPath(thrown) ?? thrown;
  if (!(error instanceof StrataError)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    io.error(toPrintable(`strata: ${text}\n`));
    return 1;
  }
  const columns = windowColumns(process.stderr);
  io.error(`${hang("strata: ", 8, toPrintable(error.message), columns).join("\n")}\n`);
  io.error(`${hang("  ", 2, toPrintable(error.hint), columns).join("\n")}\n`);
  if (isDebugging) io.error(toPrintable(`${error.stack ?? ""}\n`));
  return exitStatusOf[error.code];
}

/** A path that a person named and that cannot be used is theirs to mend, wherever it was found out. */
function aboutPath(error: unknown): StrataError | null {
  if (error instanceof StrataError || !isSystemError(error)) return null;
  const { path, code = "", syscall = "", message } = error;
  const hint =
    syscall === "mkdtemp" ? "set TMPDIR to a folder that this user may write to" : hints[code];
  if (path === undefined || hint === undefined) return null;
  const what = writes.has(syscall) ? "written" : "used";
  return new StrataError(
    code === "ENOENT" ? "not-found" : "input-invalid",
    `${path} cannot be ${what}: ${message}`,
    hint,
    { cause: error },
  );
}

const writes: ReadonlySet<string> = new Set(["mkdir", "write", "rename", "unlink", "mkdtemp"]);

const hints: Readonly<Record<string, string>> = {
  ENOENT: "name a file or folder that exists",
  EACCES: "give this user permission for it and its folder, or name another one",
  EPERM: "give this user permission for it and its folder, or name another one",
  EISDIR: "it is a folder; name a file",
  ENOTDIR: "a part of the path is a file; name another one",
  EEXIST: "name another one",
  EROFS: "nothing can be written there; name another place",
  ENOSPC: "free some disk space, or name another place",
  EDQUOT: "free some of your disk space, or name another place",
  ENAMETOOLONG: "name a shorter path",
  ELOOP: "its links go in a circle; name another one",
  EMFILE: "too many files are open; end other programs, or raise ulimit -n",
  ENXIO: "name a file",
};
