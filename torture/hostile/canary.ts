// Files beside the door's own folder that nothing may read, change, move or link to.
import { createHash } from "node:crypto";
import { chmodSync, linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
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
  const files = ["secret.txt", "deep/secret.txt", "home/MEMORY.md", "home/SKILL.md", "current/strata.yaml"];
  for (const name of files) writeFileSync(join(root, name), `${plantedToken}\n`);
  linkSync(join(root, "secret.txt"), join(root, "deep/hard-link.txt"));
  chmodSync(join(root, "deep/secret.txt"), 0o640);
  const names = ["", "current", "home", "deep", ...files];
  const paths = names.map((name) => join(root, name));
  const first = { looks: paths.map(lookAt), content: contentOf(root) };
  const look = (): string | null => {
    const changed = paths.findIndex((path, index) => lookAt(path) !== first.looks[index]);
    return changed === -1 ? null : `canary/${names[changed]}: ${lookAt(paths[changed] ?? "")}`;
  };
  return {
    current,
    home,
    look,
    compare: () => look() ?? (contentOf(root) === first.content ? null : "the content of the canary"),
  };
}

/** A changed folder has another time, so that new and removed files are seen too. */
function lookAt(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  if (stats === undefined) return "missing";
  return [stats.ino, stats.mode, stats.nlink, stats.size, stats.mtimeNs, stats.ctimeNs].join(" ");
}

function contentOf(folder: string): string {
  const hash = createHash("sha256");
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    hash.update(`${path}\0${entry.isFile() ? readFileSync(path, "latin1") : ""}\0`);
  }
  return hash.digest("hex");
}
