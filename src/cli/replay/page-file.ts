// The file of a page: known to be writable before a long run, and written after it.
import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { messageOf, StrataError } from "../../core/strata-error.ts";
import { removeAtEnd } from "../../edge/stores/remove-at-end.ts";

export interface PageFile {
  readonly path: string;
  write(html: string): void;
  /** Where nothing came of the run: a file that was not there before is not there after it. */
  discard(): void;
}

export function openPageFile(path: string): PageFile {
  const isNew = !existsSync(path);
  try {
    closeSync(openSync(path, "a"));
  } catch (cause) {
    throw unwritable(path, cause);
  }
  const stop = isNew ? removeAtEnd([path]) : (): void => {};
  return {
    path,
    write(html) {
      stop();
      try {
        replaceFile(path, html);
      } catch (cause) {
        throw unwritable(path, cause);
      }
    },
    discard() {
      stop();
      if (isNew) rmSync(path, { force: true });
    },
  };
}

/** A page that was there before stays whole until the new one is. A device or a pipe is written to. */
function replaceFile(path: string, html: string): void {
  const file = realpathSync(path);
  const { mode, isFile } = statOf(file);
  if (!isFile) {
    writeFileSync(file, html);
    return;
  }
  const unfinished = `${file}.${randomBytes(4).toString("hex")}.part`;
  const stop = removeAtEnd([unfinished]);
  try {
    writeFileSync(unfinished, html, { mode, flag: "wx" });
    renameSync(unfinished, file);
  } catch (cause) {
    rmSync(unfinished, { force: true });
    throw cause;
  } finally {
    stop();
  }
}

function statOf(file: string): { readonly mode: number; readonly isFile: boolean } {
  const stats = statSync(file);
  return { mode: stats.mode & 0o777, isFile: stats.isFile() };
}

function unwritable(path: string, cause: unknown): StrataError {
  return new StrataError(
    "input-invalid",
    `the page cannot be written to ${path}: ${messageOf(cause)}`,
    "name a file in a folder that exists and that you may write to: --html FILE",
    { cause },
  );
}
