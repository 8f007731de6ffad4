// Files of a clone, as the check of docs/requirements.md looks at them.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Look } from "./check-table.ts";

export function lookIn(root: string): Look {
  return (path) => {
    const place = join(root, path);
    if (!existsSync(place)) return null;
    return statSync(place).isDirectory() ? "" : readFileSync(place, "utf8");
  };
}
