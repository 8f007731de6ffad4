// How other programs start this installation of Strata.
import { realpathSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Io } from "../command.ts";

/** `strata` if that is what the PATH finds, else Node and the program's file, which hold in every folder. */
export function programWords(env: Io["env"]): readonly string[] {
  const own = process.argv[1] ?? "strata";
  const found = (env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "strata"))
    .find((file) => folderHas(file));
  return found !== undefined && isSame(found, own) ? ["strata"] : [process.execPath, own];
}

/** For a shell. */
export function shellWords(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(" ");
}

function folderHas(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}

function isSame(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}
