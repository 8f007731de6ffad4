// Finds every skill below a folder, at any depth. For checking, not for use.
import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { refused, type SkillReading } from "../../../core/skills/read-skill.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import type { ScopedEntry, ScopedFiles } from "../guard/scoped-files.ts";
import * as root from "./read-skill-root.ts";

export interface FoundSkill {
  /** The skill's folder, relative to the start; "." for the start itself. */
  readonly path: string;
  readonly reading: SkillReading;
}

export interface FoundSkills {
  readonly found: readonly FoundSkill[];
  /** Folders that were not searched, and skills a session would leave out, with the reason. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}

const depthMax = 12;
const foldersMax = 20_000;

/** Skills inside a skill belong to it, such as examples. Skips folders of version control and packages. */
export async function findSkills(scope: ScopedFiles): Promise<FoundSkills> {
  const found: FoundSkill[] = [];
  const skipped: { path: string; reason: string }[] = [];
  let folderCount = 0;

  async function look(path: string, depth: number): Promise<void> {
    folderCount += 1;
    const name = path === "." ? basename(scope.root) : basename(path);
    const reading = await root.readSkillFolder(scope, path, name);
    if (reading !== null) {
      found.push({ path, reading });
      return;
    }
    const entries = await listEntries(scope, path);
    const before = found.length;
    for (const entry of entries) {
      const inside = path === "." ? entry.name : `${path}/${entry.name}`;
      if (passedOver.has(entry.name)) continue;
      if (entry.kind === "symlink") {
        if (await mayBeFolder(scope, inside)) {
          found.push({ path: inside, reading: refused(root.linkedFolder) });
        }
        continue;
      }
      if (entry.kind !== "folder") continue;
      const reason = reasonToSkip(depth, folderCount);
      if (reason === null) await look(inside, depth + 1);
      else skipped.push({ path: inside, reason });
    }
    const folders = entries.filter(root.isReadBySession).length;
    const isRoot = found.slice(before).some((each) => dirname(each.path) === path);
    if (isRoot && folders > root.skillsPerRootMax) {
      const reason = `${folders} folders; a session reads the first ${root.skillsPerRootMax} by name`;
      skipped.push({ path, reason });
    }
  }

  await look(".", 0);
  return { found, skipped };
}

const passedOver = new Set([".git", ".hg", ".svn", ".jj", "node_modules"]);

/** Only checks whether it is a folder; reads nothing behind a link. If unclear, it counts as one. */
async function mayBeFolder(scope: ScopedFiles, path: string): Promise<boolean> {
  const stats = await stat(join(scope.root, path)).catch(() => null);
  return stats === null || stats.isDirectory();
}

function reasonToSkip(depth: number, folderCount: number): string | null {
  if (depth >= depthMax) return `more than ${depthMax} folders deep`;
  return folderCount >= foldersMax ? `more than ${foldersMax} folders` : null;
}

/** A folder that vanished meanwhile is empty. */
async function listEntries(scope: ScopedFiles, path: string): Promise<readonly ScopedEntry[]> {
  try {
    return await scope.list(path);
  } catch (error) {
    if (error instanceof ToolError && error.errorClass === "not_found") return [];
    throw error;
  }
}
