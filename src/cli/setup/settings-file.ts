// A settings file as bytes: read as it is, and replaced whole or not at all, with its mode and through links.
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { messageOf, StrataError } from "../../core/strata-error.ts";
import { hasCode } from "../../edge/files/guard/scoped-failure.ts";

/** Null if there is none. */
export function readBytes(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return null;
    throw unusable(file, error);
  }
}

/** Bytes that are no UTF-8 would not come back as they are. */
export function toText(file: string, bytes: Buffer | null): string {
  const text = bytes?.toString("utf8") ?? "";
  if (bytes === null || Buffer.from(text).equals(bytes)) return text;
  throw new StrataError(
    "config-invalid",
    `${file} is not UTF-8`,
    "save it as UTF-8 first; nothing was changed",
  );
}

/** Returns the folders that were made for it, the outermost first. */
export function writeBytes(file: string, bytes: Uint8Array, mode = 0o600): readonly string[] {
  try {
    const made = makeFolders(dirname(file));
    const target = throughLinks(file);
    const kept = statSync(target, { throwIfNoEntry: false })?.mode;
    const temporary = join(dirname(target), `.strata-${randomBytes(8).toString("hex")}.tmp`);
    try {
      writeFileSync(temporary, bytes, { mode: 0o600, flag: "wx" });
      chmodSync(temporary, (kept ?? mode) & 0o7777);
      renameSync(temporary, target);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
    return made;
  } catch (error) {
    throw unusable(file, error);
  }
}

export function removeFile(file: string): void {
  rmSync(file, { force: true });
}

/** Those that are empty, the innermost first. */
export function removeFolders(folders: readonly string[]): void {
  for (const folder of folders.toReversed()) {
    try {
      rmdirSync(folder);
    } catch {
      // Someone else put something there: it stays, and the folders around it.
      return;
    }
  }
}

function makeFolders(folder: string): readonly string[] {
  if (statSync(folder, { throwIfNoEntry: false }) !== undefined) return [];
  const made = [...makeFolders(dirname(folder)), folder];
  mkdirSync(folder);
  return made;
}

/** People keep their settings in one folder and link to them: the link stays a link. */
function throughLinks(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return file;
    throw error;
  }
}

function unusable(file: string, error: unknown): StrataError {
  if (error instanceof StrataError) return error;
  return new StrataError(
    "environment-unfit",
    `${file}: ${messageOf(error)}`,
    "what was written before it is undone by --undo",
    { cause: error },
  );
}
