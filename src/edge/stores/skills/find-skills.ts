// Every skill below a folder, wherever it is: for checking, not for using them.
import { basename } from "node:path";
import type { SkillReading } from "../../../core/skills/read-skill.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import type { ScopedEntry, ScopedFiles } from "../scoped-files.ts";
import { readSkillFolder } from "./read-skill-folder.ts";

export interface FoundSkill {
  /** Of its folder, from where the search began; "." for that folder itself. */
  readonly path: string;
  readonly reading: SkillReading;
}

export interface FoundSkills {
  readonly found: readonly FoundSkill[];
  /** What was not looked into, and why. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}

const depthMax = 12;
const foldersMax = 20_000;

/** Skills inside of skills belong to them, as examples do. Folders that keep versions or packages are passed over. */
export async function findSkills(scope: ScopedFiles): Promise<FoundSkills> {
  const found: FoundSkill[] = [];
  const skipped: { path: string; reason: string }[] = [];
  let folderCount = 0;

  async function look(path: string, depth: number): Promise<void> {
    folderCount += 1;
    const name = path === "." ? basename(scope.root) : basename(path);
    const reading = await readSkillFolder(scope, path, name);
    if (reading !== null) {
      found.push({ path, reading });
      return;
    }
    for (const entry of await listEntries(scope, path)) {
      const inside = path === "." ? entry.name : `${path}/${entry.name}`;
      const reason = reasonToSkip(entry, depth, folderCount);
      if (reason !== null) skipped.push({ path: inside, reason });
      else if (entry.kind === "folder" && !passedOver.has(entry.name)) {
        await look(inside, depth + 1);
      }
    }
  }

  await look(".", 0);
  return { found, skipped };
}

const passedOver = new Set([".git", ".hg", ".svn", ".jj", "node_modules"]);

function reasonToSkip({ kind }: ScopedEntry, depth: number, folderCount: number): string | null {
  if (kind === "symlink") return "a symbolic link, which is not followed";
  if (kind !== "folder") return null;
  if (depth >= depthMax) return `more than ${depthMax} folders deep`;
  return folderCount >= foldersMax ? `more than ${foldersMax} folders` : null;
}

/** A folder that vanished meanwhile has nothing. */
async function listEntries(scope: ScopedFiles, path: string): Promise<readonly ScopedEntry[]> {
  try {
    return await scope.list(path);
  } catch (error) {
    if (error instanceof ToolError && error.errorClass === "not_found") return [];
    throw error;
  }
}
