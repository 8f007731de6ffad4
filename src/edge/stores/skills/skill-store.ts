// Skills on disk: what a session begins with, the files beside a skill, and new ones.
import type { StoredSkill } from "../../../core/skills/skill.ts";
import {
  emptyRoot,
  takeSnapshot,
  type SkillRoot,
  type SkillSnapshot,
} from "../../../core/skills/skill-snapshot.ts";
import type { NewSkill } from "../../../core/skills/write-skill.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import { openScope, type ScopedFiles } from "../scoped-files.ts";
import { readBesideSkill } from "./read-beside-skill.ts";
import { readSkillRoot, type RootPlace } from "./read-skill-root.ts";
import { saveSkill } from "./save-skill.ts";

export interface SkillStore {
  /** Taken once. What is saved or edited later is for the next session. */
  readonly snapshot: SkillSnapshot;
  /** A text file in the skill's folder, as it is now. */
  readFile(skill: StoredSkill, path: string): Promise<string>;
  /** Into the workspace, and only where nothing of that name is. */
  save(skill: NewSkill): Promise<StoredSkill>;
}

export interface SkillPlaces {
  /** A folder of skills for every workspace. It may be missing. */
  readonly globalRoot?: string;
  /** The folder somebody works in; its skills are in .strata/skills, or else in .metis/skills. */
  readonly workspace?: string;
}

/** Reads both roots. What cannot be used is among the problems of the snapshot; a workspace must be there. */
export async function createSkillStore(places: SkillPlaces): Promise<SkillStore> {
  const { globalRoot, workspace } = places;
  const global = globalRoot === undefined ? null : await openGlobal(globalRoot);
  const local = workspace === undefined ? null : await openLocal(workspace);
  return {
    snapshot: takeSnapshot(await readOpened(global), await readOpened(local)),
    readFile: async ({ source, name }, path) => {
      const opened = source === "global" ? global : local;
      if (opened === null || "problems" in opened) throw noSuchRoot(source);
      return readBesideSkill(opened, name, path);
    },
    save: async (skill) => {
      if (local === null) throw noSuchRoot("workspace");
      return saveSkill(local, skill);
    },
  };
}

/** Null where it is missing; a root with its problem where it cannot be used. */
async function openGlobal(root: string): Promise<RootPlace | SkillRoot | null> {
  try {
    return { scope: await openScope(root), path: ".", shown: root, source: "global" };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    if (error.errorClass === "not_found") return null;
    const { message } = error;
    return { ...emptyRoot, problems: [{ source: "global", folder: root, rule: "root", message }] };
  }
}

async function openLocal(workspace: string): Promise<RootPlace> {
  const scope = await openScope(workspace);
  const path = await findPath(scope);
  return { scope, path, shown: path, source: "workspace" };
}

async function readOpened(opened: RootPlace | SkillRoot | null): Promise<SkillRoot> {
  if (opened === null) return emptyRoot;
  return "problems" in opened ? opened : readSkillRoot(opened);
}

/** Skills are in one place: where they are already, else beside the other files of ours. */
async function findPath(workspace: ScopedFiles): Promise<string> {
  const [own, older] = [".strata/skills", ".metis/skills"];
  if (await isThere(workspace, own)) return own;
  if (await isThere(workspace, older)) return older;
  const isOlder = !(await isThere(workspace, ".strata")) && (await isThere(workspace, ".metis"));
  return isOlder ? older : own;
}

/** What is refused is there, too: reading it says what is wrong. */
async function isThere(workspace: ScopedFiles, path: string): Promise<boolean> {
  try {
    return (await workspace.stat(path)) !== null;
  } catch (error) {
    if (error instanceof ToolError) return true;
    throw error;
  }
}

function noSuchRoot(source: "global" | "workspace"): ToolError {
  const what = source === "global" ? "global skills" : "workspace";
  return new ToolError("execution_error", `this session has no ${what}`);
}
