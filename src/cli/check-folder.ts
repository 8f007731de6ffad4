// A folder somebody named is meant to be there.
import { statSync } from "node:fs";
import { StrataError } from "../core/strata-error.ts";

export function checkFolder(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) return;
  const what = stats === undefined ? "is not there" : "is no folder";
  throw new StrataError("not-found", `${path} ${what}`, "name a folder that is there");
}
