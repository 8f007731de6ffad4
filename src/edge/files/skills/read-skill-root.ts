// Reads a root of skills: the valid ones, and a reason for each of the others.
import { join } from "node:path";
import type { SkillSource, StoredSkill } from "../../../core/skills/skill.ts";
import {
  emptyRoot,
  type SkillNote,
  type SkillProblem,
  type SkillRoot,
} from "../../../core/skills/skill-snapshot.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import type { ScopedEntry, ScopedFiles } from "../guard/scoped-files.ts";
import { linkedFolder, readSkillFolder } from "./read-skill-folder.ts";

export interface RootPlace {
  readonly scope: ScopedFiles;
  /** Relative to the scope; "." for all of it. */
  readonly path: string;
  /** The root's name for people. */
  readonly shown: string;
  readonly source: SkillSource;
}

/** More is probably a mistake, such as a whole disk as the root. */
export const skillsPerRootMax = 1000;

/** A missing root has no skills. */
export async function readSkillRoot(place: RootPlace): Promise<SkillRoot> {
  const { scope, path, shown, source } = place;
  const problems: SkillProblem[] = [];
  const folders = await listFolders(place, problems);
  const skills: StoredSkill[] = [];
  const warnings: SkillNote[] = [];
  for (const { name, kind } of folders.slice(0, skillsPerRootMax)) {
    const folder = join(shown, name);
    if (kind === "symlink") {
      problems.push({ source, folder, ...linkedFolder });
      continue;
    }
    const reading = await readSkillFolder(scope, `${path}/${name}`, name);
    if (reading === null) continue;
    for (const violation of reading.violations) problems.push({ source, folder, ...violation });
    for (const warning of reading.warnings) warnings.push({ source, folder, ...warning });
    if (reading.skill !== null) skills.push({ ...reading.skill, source, folder });
  }
  if (folders.length > skillsPerRootMax) {
    const message = `there are ${folders.length} folders; the first ${skillsPerRootMax} by name were read`;
    problems.push({ source, folder: shown, rule: "root", message });
  }
  return folders.length === 0 && problems.length === 0 ? emptyRoot : { skills, problems, warnings };
}

/** Hidden folders belong to version control, or are still being created. */
export function isReadBySession({ name, kind }: ScopedEntry): boolean {
  return (kind === "folder" || kind === "symlink") && !name.startsWith(".");
}

async function listFolders(
  { scope, path, shown, source }: RootPlace,
  problems: SkillProblem[],
): Promise<readonly ScopedEntry[]> {
  try {
    const entries = await scope.list(path);
    return entries.filter(isReadBySession);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    if (error.errorClass !== "not_found") {
      problems.push({ source, folder: shown, rule: "root", message: error.message });
    }
    return [];
  }
}
