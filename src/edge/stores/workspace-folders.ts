// The folders that Strata keeps its own things in: `.strata`, and `.metis` where an earlier program made that one.
import type { ScopedFiles } from "./scoped-files.ts";

/** In the order they are looked at. */
export const stateFolders = [".strata", ".metis"] as const;

export type StateFolder = (typeof stateFolders)[number];

/** Also as it may be written where cases, and dots or spaces at the end, make no difference. */
export function isStateFolder(name: string): boolean {
  return stateFolders.some((folder) => folder === toPlainName(name));
}

/** A name as file systems that tell the fewest names apart would take it. */
export function toPlainName(name: string): string {
  // There and back, for the letters that have a capital but are none of its small ones, as ſ.
  return name
    .toUpperCase()
    .toLowerCase()
    .replace(/[. ]+$/, "");
}

/** `.strata`, unless only `.metis` is there: making the other one as well would hide what is in it. */
export async function findStateFolder(files: Pick<ScopedFiles, "stat">): Promise<StateFolder> {
  for (const folder of stateFolders) {
    if ((await files.stat(folder)) !== null) return folder;
  }
  return stateFolders[0];
}
