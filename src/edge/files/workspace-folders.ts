// Strata's own folders in a workspace: `.strata`, or `.metis` if an earlier program made that one.
import type { ScopedFiles } from "./guard/scoped-files.ts";
import { isSameName } from "./guard/scoped-path.ts";

/** In order of preference. */
export const stateFolders = [".strata", ".metis"] as const;

export type StateFolder = (typeof stateFolders)[number];

/** Also matches every spelling that some file system takes for the same name. */
export function isStateFolder(name: string): boolean {
  return stateFolders.some((folder) => isSameName(name, folder));
}

/** `.strata`, unless only `.metis` exists: a new `.strata` would hide its content. */
export async function findStateFolder(files: Pick<ScopedFiles, "stat">): Promise<StateFolder> {
  for (const folder of stateFolders) {
    if ((await files.stat(folder)) !== null) return folder;
  }
  return stateFolders[0];
}
