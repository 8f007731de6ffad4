// Files of a clone, as the checks of docs/requirements.md and SECURITY.md look at them.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Look } from "./named-tests.ts";

export function lookIn(root: string): Look {
  const texts = new Map<string, string | null>();
  const read = (path: string): string | null => {
    const place = join(root, path);
    if (!existsSync(place)) return null;
    return statSync(place).isDirectory() ? "" : readFileSync(place, "utf8");
  };
  return (path) => {
    const text = texts.has(path) ? (texts.get(path) ?? null) : read(path);
    texts.set(path, text);
    return text;
  };
}
