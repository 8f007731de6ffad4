// A folder of a workspace's memory, held open, and the only way its files are read.
import { refusedWay, withToolErrors } from "../guard/scoped-failure.ts";
import type { ScopedContent } from "../guard/scoped-files.ts";
import { openFolder, type ScopedFolder, type ScopeRoot } from "../guard/scoped-folder.ts";
import { readBounded } from "../guard/scoped-read.ts";

export interface HeldFolder extends ScopedFolder {
  /**
   * Reads through the guard: refuses links, special files and folders, and reads at most the limit. Null: no
   * such file.
   */
  read(name: string, bytesMax: number): Promise<ScopedContent | null>;
}

/** Held open during the work. Null if it is missing. */
export function withFolder<T>(
  root: ScopeRoot,
  names: readonly string[],
  create: boolean,
  work: (folder: HeldFolder | null) => Promise<T>,
): Promise<T> {
  const path = names.join("/");
  return withToolErrors(path, async () => {
    const folder = await openFolder(root, { names, create, path });
    if (folder === null && create) throw refusedWay(path);
    try {
      return await work(folder === null ? null : toHeld(root, folder, path));
    } finally {
      // Nothing was written through this handle, so a failed close loses nothing.
      await folder?.close().catch(() => {});
    }
  });
}

function toHeld(root: ScopeRoot, folder: ScopedFolder, path: string): HeldFolder {
  return {
    ...folder,
    read: (name, bytesMax) =>
      readBounded(root, folder, name, { path: path === "" ? name : `${path}/${name}`, bytesMax }),
  };
}
