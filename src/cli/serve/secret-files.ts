// Secrets of the gateway: in the environment, or in files that only their owner may read.
import { readFileSync, statSync } from "node:fs";
import { messageOf, StrataError } from "../../core/strata-error.ts";

/** One line. Refuses a file that other users may read, and an empty one. */
export function readSecretLine(file: string, what: string): string {
  const text = readSecretFile(file, what).trim();
  if (text !== "") return text;
  throw new StrataError("config-invalid", `${file} is empty`, `write ${what} into it`);
}

/** Refuses a file that other users may read. */
export function readSecretFile(file: string, what: string): string {
  const text = readFile(file, what);
  if ((statSync(file).mode & 0o077) === 0 || process.platform === "win32") return text;
  throw new StrataError(
    "config-invalid",
    `${file}, with ${what}, can be read by other users`,
    `chmod 600 ${file}`,
  );
}

export function readFile(file: string, what: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new StrataError(
      "config-invalid",
      `${what} cannot be read: ${messageOf(error)}`,
      "correct the path in the section gateway of strata.yaml",
      { cause: error },
    );
  }
}
