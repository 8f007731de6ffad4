// Skills on disk: a session's snapshot, the files beside a skill, and new skills.
import { decodeSkillText, readSkillBytes } from "../../../core/skills/read-skill.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import { readSkillRoot, type RootPlace, type SkillCache } from "./read-skill-root.ts";
import { skillFileName, type StoredSkill } from "../../../core/skills/skill.ts";
import {
  emptyRoot,
  takeSnapshot,
  type SkillRoot,
  type SkillSnapshot,
} from "../../../core/skills/skill-snapshot.ts";
import { toSkillText, type NewSkill } from "../../../core/skills/frontmatter-yaml.ts";
import type { ScopeOptions } from "../guard/open-root.ts";
import { openScope, type ScopedFiles } from "../guard/scoped-files.ts";

export interface SkillStore {
  /** Taken once. Later changes are for the next session. */
  readonly snapshot: SkillSnapshot;
  /** A text file in the skill's folder, in its current state. */
  readFile(skill: StoredSkill, path: string): Promise<string>;
  /** Saves into the workspace. Never replaces a skill. */
  save(skill: NewSkill): Promise<StoredSkill>;
}

export interface SkillPlaces {
  /** A folder with skills for every workspace. It may be missing. */
  readonly globalRoot?: string;
  /** The working folder. Its skills are in .strata/skills, or else in .metis/skills. */
  readonly workspace?: string;
  /** Shared by sessions, so that each reads only what changed since. */
  readonly cache?: SkillCache;
  readonly scope?: ScopeOptions;
}

/** Reads both roots. The snapshot lists unusable skills as problems. The workspace must exist. */
export async function createSkillStore(places: SkillPlaces): Promise<SkillStore> {
  const { globalRoot, workspace, cache, scope } = places;
  const global = globalRoot === undefined ? null : await openGlobal(globalRoot, scope);
  const local = workspace === undefined ? null : await openLocal(workspace, scope);
  return {
    snapshot: takeSnapshot(await readOpened(global, cache), await readOpened(local, cache)),
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

/** Null if it is missing. A root with its problem if it cannot be used. */
async function openGlobal(
  root: string,
  options?: ScopeOptions,
): Promise<RootPlace | SkillRoot | null> {
  try {
    return { scope: await openScope(root, options), path: ".", shown: root, source: "global" };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    if (error.errorClass === "not_found") return null;
    const { message } = error;
    return { ...emptyRoot, problems: [{ source: "global", folder: root, rule: "root", message }] };
  }
}

async function openLocal(workspace: string, options?: ScopeOptions): Promise<RootPlace> {
  const scope = await openScope(workspace, options);
  const path = await findPath(scope);
  return { scope, path, shown: path, source: "workspace" };
}

async function readOpened(
  opened: RootPlace | SkillRoot | null,
  cache: SkillCache | undefined,
): Promise<SkillRoot> {
  if (opened === null) return emptyRoot;
  return "problems" in opened ? opened : readSkillRoot(opened, cache);
}

/** Skills have one place: where they already are, else beside our other files. */
async function findPath(workspace: ScopedFiles): Promise<string> {
  const [own, older] = [".strata/skills", ".metis/skills"];
  if (await isThere(workspace, own)) return own;
  if (await isThere(workspace, older)) return older;
  const isOlder = !(await isThere(workspace, ".strata")) && (await isThere(workspace, ".metis"));
  return isOlder ? older : own;
}

/** A refused path exists, too: reading it says what is wrong. */
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

const bytesMax = 131_072;

/** The guard keeps paths inside the root. A skill may not read the folder of another either. */
async function readBesideSkill(
  { scope, path: root }: RootPlace,
  skill: string,
  path: string,
): Promise<string> {
  if (path.startsWith("/") || path.split(/[/\\]/).includes("..")) {
    throw new ToolError("permission_denied", `${path} is outside the folder of the skill`);
  }
  const content = await scope.readFile(`${root}/${skill}/${path}`, { bytesMax });
  if (content === null) throw new ToolError("not_found", `the skill has no file ${path}`);
  if (content.size > bytesMax) {
    const sizes = `${content.size} bytes, at most ${bytesMax} are read`;
    throw new ToolError("validation_error", `${path} is too large: it has ${sizes}`);
  }
  const text = decodeSkillText(content.bytes);
  if (text === null) throw new ToolError("validation_error", `${path} is no text in UTF-8`);
  return text;
}

/** Reads the exact bytes by the rules for all skills before it writes them. This also makes the name a safe path. */
async function saveSkill(place: RootPlace, given: NewSkill): Promise<StoredSkill> {
  const text = toSkillText(given);
  const bytes = new TextEncoder().encode(text);
  const { skill, violations } = readSkillBytes(bytes, bytes.length, given.name);
  const problems = [
    ...violations.map(({ rule, message }) => `${message} [${rule}]`),
    ...(text.isWellFormed() ? [] : ["it has half a character, which no file can hold"]),
    ...checkBody(given.body),
  ];
  if (skill === null || problems.length > 0) throw notSaved(problems.join("; "));
  const folder = `${place.path}/${skill.name}`;
  const isNew = await place.scope.createFile(`${folder}/${skillFileName}`, bytes, { mode: 0o644 });
  if (!isNew) {
    throw notSaved(
      `there is a skill ${skill.name} in this workspace, and skills are not replaced; choose another name`,
    );
  }
  return { ...skill, source: place.source, folder };
}

function checkBody(body: string): readonly string[] {
  if (body.trim() === "") return ["the body is empty"];
  const size = new TextEncoder().encode(body).length;
  if (size > bodyBytesMax) return [`the body has ${size} bytes, at most ${bodyBytesMax}`];
  return /^\s*---[ \t]*\r?\n/.test(body)
    ? ["the body begins with frontmatter of its own; give only what follows it"]
    : [];
}

/** Longer bodies could not be loaded by a session. */
const bodyBytesMax = 120_000;

function notSaved(reason: string): ToolError {
  return new ToolError("validation_error", `the skill was not saved: ${reason}`);
}
