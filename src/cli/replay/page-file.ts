// The file of a page: known to be writable before a long run, and written after it.
import { closeSync, existsSync, openSync, rmSync, writeFileSync } from "node:fs";
import { messageOf, StrataError } from "../../core/strata-error.ts";

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
  return {
    path,
    write(html) {
      try {
        writeFileSync(path, html);
      } catch (cause) {
        throw unwritable(path, cause);
      }
    },
    discard() {
      if (isNew) rmSync(path, { force: true });
    },
  };
}

function unwritable(path: string, cause: unknown): StrataError {
  return new StrataError(
    "input-invalid",
    `the page cannot be written to ${path}: ${messageOf(cause)}`,
    "name a file in a folder that exists and that you may write to: --html FILE",
    { cause },
  );
}
