// Reads a root of skills: the valid ones, and a reason for each of the others.
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { readSkillBytes, refused, type SkillReading } from "../../../core/skills/read-skill.ts";
import { skillLimits, type SkillViolation } from "../../../core/skills/skill-rules.ts";
import { skillFileName, type SkillSource, type StoredSkill } from "../../../core/skills/skill.ts";
import {
  emptyRoot,
  type SkillNote,
  type SkillProblem,
  type SkillRoot,
} from "../../../core/skills/skill-snapshot.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import type { ScopedEntry, ScopedFiles } from "../guard/scoped-files.ts";

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

/** What was read before. Sessions that share it read only the skills that changed since. */
export interface SkillCache {
  /** By root, then by folder. */
  readonly roots: Map<string, ReadonlyMap<string, KeptReading>>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export function createSkillCache(now: () => number = Date.now): SkillCache {
  return { roots: new Map(), now };
}

interface KeptReading {
  readonly stamp: string;
  readonly reading: SkillReading | null;
}

/** More would not be faster, and descriptors may be scarce. */
const readAtOnce = 8;

/** A missing root has no skills. */
export async function readSkillRoot(
  place: RootPlace,
  cache: SkillCache = createSkillCache(),
): Promise<SkillRoot> {
  const { shown, source } = place;
  const problems: SkillProblem[] = [];
  const folders = await listFolders(place, problems);
  const skills: StoredSkill[] = [];
  const warnings: SkillNote[] = [];
  for (const [name, reading] of await readFolders(place, folders, cache)) {
    const folder = join(shown, name);
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

/** In the order of the folders. */
async function readFolders(
  { scope, path }: RootPlace,
  folders: readonly ScopedEntry[],
  cache: SkillCache,
): Promise<readonly (readonly [name: string, reading: SkillReading | null])[]> {
  const root = join(scope.root, path);
  const known = cache.roots.get(root);
  const kept = new Map<string, KeptReading>();
  const readOne = async ({ name, kind }: ScopedEntry): Promise<SkillReading | null> => {
    if (kind === "symlink") return refused(linkedFolder);
    const stamp = await stampOf(join(root, name, skillFileName), cache.now());
    const before = known?.get(name);
    const isSame = stamp !== null && stamp === before?.stamp;
    const reading = isSame ? before.reading : await readSkillFolder(scope, `${path}/${name}`, name);
    if (stamp !== null) kept.set(name, { stamp, reading });
    return reading;
  };
  const all: [string, SkillReading | null][] = [];
  const some = folders.slice(0, skillsPerRootMax);
  for (let start = 0; start < some.length; start += readAtOnce) {
    const batch = some.slice(start, start + readAtOnce);
    const readings = await Promise.all(batch.map(readOne));
    all.push(
      ...batch.map(({ name }, index): [string, SkillReading | null] => [
        name,
        readings[index] ?? null,
      ]),
    );
  }
  cache.roots.set(root, kept);
  return all;
}

/**
 * Changes with the file. Null if there is none, or if it changed so recently that its next change may leave the same
 * time. Only compared: the content is read through the guard.
 */
async function stampOf(path: string, nowMs: number): Promise<string | null> {
  const stats = await lstat(path, { bigint: true }).catch(() => null);
  if (stats === null || nowMs - Number(stats.ctimeMs) < settledMs) return null;
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
}

/** Longer than a tick of any file system's clock. */
const settledMs = 2500;

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

/** Null for a folder that has nothing to do with skills. */
export async function readSkillFolder(
  scope: ScopedFiles,
  path: string,
  folder: string,
): Promise<SkillReading | null> {
  try {
    const entries = await scope.list(path);
    const file = findSkillFile(entries);
    if (file === undefined) return null;
    const problem = problemWith(file);
    if (problem !== null) return refused(problem);
    const content = await scope.readFile(`${path}/${skillFileName}`, {
      bytesMax: skillLimits.fileBytesMax,
    });
    if (content === null) return null;
    return readSkillBytes(content.bytes, content.size, folder);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return refused({ rule: "file-access", message: describeAccess(error, folder) });
  }
}

export const linkedFolder: SkillViolation = {
  rule: "file-kind",
  message: "the folder is a symbolic link, which is not followed; copy it here",
};

/** A name that is not valid text is listed with replacement characters, and so is not found. */
function describeAccess({ errorClass, message }: ToolError, folder: string): string {
  return errorClass === "not_found" && folder.includes("\ufffd")
    ? "the name of the folder is not UTF-8; rename it"
    : message;
}

/** Compares the listed names: some file systems would open any spelling. */
function findSkillFile(entries: readonly ScopedEntry[]): ScopedEntry | undefined {
  return (
    entries.find(({ name }) => name === skillFileName) ??
    entries.find(({ name }) => name.toLowerCase() === skillFileName.toLowerCase())
  );
}

function problemWith({ name, kind }: ScopedEntry): SkillViolation | null {
  if (name !== skillFileName) {
    return { rule: "file-name", message: `the file is called ${name}; rename it ${skillFileName}` };
  }
  if (kind === "file") return null;
  const what = { folder: "a folder", symlink: "a symbolic link", other: "no file" }[kind];
  return { rule: "file-kind", message: `${skillFileName} is ${what}; put the file itself there` };
}
