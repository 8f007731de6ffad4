// Refuses a folder that does not exist.
import { statSync } from "node:fs";
import { StrataError } from "../core/strata-error.ts";

export function checkFolder(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) return;
  const what = stats === undefined ? "does not exist" : "is not a folder";
  throw new StrataError("not-found", `${path} ${what}`, "name an existing folder");
}
