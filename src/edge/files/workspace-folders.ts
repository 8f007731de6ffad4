// Strata's own folders in a workspace: `.strata`, or `.metis` if an earlier program made that one.
import type { ScopedFiles } from "./guard/scoped-files.ts";

/** In order of preference. */
export const stateFolders = [".strata", ".metis"] as const;

export type StateFolder = (typeof stateFolders)[number];

/** Also matches spellings that differ only in case, or in trailing dots or spaces. */
export function isStateFolder(name: string): boolean {
  return stateFolders.some((folder) => folder === toPlainName(name));
}

/** The name as the least case-sensitive file systems compare it. */
export function toPlainName(name: string): string {
  // To upper case and back, for letters such as ſ that share a capital with another letter.
  return name
    .toUpperCase()
    .toLowerCase()
    .replace(/[. ]+$/, "");
}

/** `.strata`, unless only `.metis` exists: a new `.strata` would hide its content. */
export async function findStateFolder(files: Pick<ScopedFiles, "stat">): Promise<StateFolder> {
  for (const folder of stateFolders) {
    if ((await files.stat(folder)) !== null) return folder;
  }
  return stateFolders[0];
}
