// Lists a folder's entries without following links.
import type { Dirent, Stats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import type { ScopedEntry, ScopedFolder } from "./scope-root.ts";

/** How many entries are examined at once. */
const AT_ONCE = 32;

export async function listEntries(folder: ScopedFolder): Promise<readonly ScopedEntry[]> {
  const found = await readdir(folder.self, { withFileTypes: true });
  await folder.check();
  found.sort((left, right) => (left.name < right.name ? -1 : 1));
  const entries: ScopedEntry[] = [];
  for (let start = 0; start < found.length; start += AT_ONCE) {
    const some = found.slice(start, start + AT_ONCE).map((each) => toEntry(folder, each));
    entries.push(...(await Promise.all(some)));
  }
  await folder.check();
  return entries;
}

/** An entry that vanished meanwhile, or whose name is not valid text, is listed as found. */
async function toEntry(folder: ScopedFolder, found: Dirent): Promise<ScopedEntry> {
  const stats = await lstat(folder.at(found.name)).catch(() => null);
  return { name: found.name, kind: kindOf(stats ?? found), size: stats?.size ?? 0 };
}

function kindOf(entry: Dirent | Stats): ScopedEntry["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "symlink" : "other";
}
