// Files beside the door's own folder that nothing may read, change, move or link to.
import { createHash } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { plantedToken } from "../../harness/planted-key.ts";

export interface Canary {
  /** Where the process stands; also outside of every door. */
  readonly current: string;
  readonly home: string;
  /** What changed since the beginning, from what the file system says about each file; null for nothing. */
  look(): string | null;
  /** The same with the content of every file. */
  compare(): string | null;
}

/** Its content is a planted secret, so that the search for keys also finds what was read here. */
export function makeCanary(base: string): Canary {
  const root = join(base, "canary");
  const [current, home] = [join(root, "current"), join(root, "home")];
  for (const folder of [current, home, join(root, "deep")]) mkdirSync(folder, { recursive: true });
  const files = ["secret.txt", "deep/secret.txt", "home/MEMORY.md", "current/strata.yaml"];
  for (const name of files) writeFileSync(join(root, name), `${plantedToken}\n`);
  // Doors make hard links to this one, which nothing can tell from the file itself.
  writeFileSync(join(root, "linked.txt"), "# Nothing secret\n");
  chmodSync(join(root, "deep/secret.txt"), 0o640);
  const names = ["", "current", "home", "deep", ...files, "linked.txt"];
  let before = new Map(names.map((name) => [name, lookAt(join(root, name))]));
  let content = contentOf(root);
  /** Reports a change once. */
  const look = (): string | null => {
    const now = new Map(names.map((name) => [name, lookAt(join(root, name))]));
    const changed = names.filter((name) => now.get(name) !== before.get(name));
    before = now;
    if (changed.length === 0) return null;
    content = contentOf(root);
    return changed.map((name) => `canary/${name}`).join(", ");
  };
  const compare = (): string | null => {
    const changed = look();
    const was = content;
    content = contentOf(root);
    return changed ?? (was === content ? null : "the content of the canary");
  };
  return { current, home, look, compare };
}

/** A changed folder has another time, so that new and removed files are seen too. */
function lookAt(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  if (stats === undefined) return "missing";
  const links = path.endsWith("linked.txt") ? [] : [stats.nlink, stats.ctimeNs];
  return [stats.ino, stats.mode, stats.size, stats.mtimeNs, ...links].join(" ");
}

function contentOf(folder: string): string {
  const hash = createHash("sha256");
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    hash.update(`${path}\0${entry.isFile() ? readFileSync(path, "latin1") : ""}\0`);
  }
  return hash.digest("hex");
}
