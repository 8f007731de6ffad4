// Strata's own folders in a workspace: `.strata`, or `.metis` if an earlier program made that one.
import type { ScopedFiles } from "./guard/scoped-files.ts";

/** In order of preference. */
export const stateFolders = [".strata", ".metis"] as const;

export type StateFolder = (typeof stateFolders)[number];

/** Also matches every spelling that some file system takes for the same name. */
export function isStateFolder(name: string): boolean {
  return stateFolders.some((folder) => isSameName(name, folder));
}

/**
 * Whether some file system may take the two for one name: HFS+ and NTFS ignore case and invisible characters, NTFS also
 * dots and spaces at the end and what follows a colon, and it knows `.git` as `git~1`, too.
 */
export function isSameName(name: string, known: string): boolean {
  const plain = toPlainName(name);
  const short = known
    .replaceAll(/[^a-z0-9]/gi, "")
    .slice(0, 6)
    .toLowerCase();
  return plain === toPlainName(known) || (/~\d+$/.test(plain) && plain.startsWith(`${short}~`));
}

function toPlainName(name: string): string {
  const visible = name
    .normalize("NFKC")
    .replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}]/gu, "");
  // To upper case and back, for letters such as ſ that share a capital with another letter.
  const [beforeColon = ""] = visible.toUpperCase().toLowerCase().split(":");
  return beforeColon.replace(/[.\s]+$/u, "");
}

/** `.strata`, unless only `.metis` exists: a new `.strata` would hide its content. */
export async function findStateFolder(files: Pick<ScopedFiles, "stat">): Promise<StateFolder> {
  for (const folder of stateFolders) {
    if ((await files.stat(folder)) !== null) return folder;
  }
  return stateFolders[0];
}
