// The skills of a session: both roots as they were at its start. Later file changes affect the next session.
import type { StoredSkill, SkillSource } from "./skill.ts";
import type { SkillRule, SkillWarning } from "./skill-rules.ts";

export interface SkillSnapshot {
  /** Sorted by name, each once. */
  readonly skills: readonly StoredSkill[];
  /** Skills that were refused, each with its reason. */
  readonly problems: readonly SkillProblem[];
  /** Skills that were accepted but could be better. */
  readonly warnings: readonly SkillNote[];
  /** Global skills with the name of a workspace skill. */
  readonly shadowed: readonly StoredSkill[];
  find(name: string): StoredSkill | undefined;
}

export interface SkillProblem {
  readonly source: SkillSource;
  readonly folder: string;
  /** `root`: the root cannot be used, or only in part. */
  readonly rule: SkillRule | "root";
  readonly message: string;
}

export interface SkillNote extends SkillWarning {
  readonly source: SkillSource;
  readonly folder: string;
}

export interface SkillRoot {
  readonly skills: readonly StoredSkill[];
  readonly problems: readonly SkillProblem[];
  readonly warnings: readonly SkillNote[];
}

export const emptyRoot: SkillRoot = { skills: [], problems: [], warnings: [] };

/** A workspace skill replaces a global one as a whole. */
export function takeSnapshot(global: SkillRoot, workspace: SkillRoot): SkillSnapshot {
  const byName = new Map<string, StoredSkill>();
  const shadowed: StoredSkill[] = [];
  for (const skill of workspace.skills) byName.set(skill.name, skill);
  for (const skill of global.skills) {
    if (byName.has(skill.name)) shadowed.push(skill);
    else byName.set(skill.name, skill);
  }
  const skills = [...byName.values()].toSorted((left, right) => (left.name < right.name ? -1 : 1));
  return Object.freeze({
    skills: Object.freeze(skills.map((skill) => Object.freeze(skill))),
    problems: Object.freeze([...workspace.problems, ...global.problems]),
    warnings: Object.freeze([...workspace.warnings, ...global.warnings]),
    shadowed: Object.freeze(shadowed),
    find: (name: string) => byName.get(name),
  });
}

/** Only the skills of these names. `unknown`: names without a skill. */
export function limitSnapshot(
  snapshot: SkillSnapshot,
  names: readonly string[],
): { readonly snapshot: SkillSnapshot; readonly unknown: readonly string[] } {
  const skills = snapshot.skills.filter(({ name }) => names.includes(name));
  return {
    snapshot: Object.freeze({
      ...snapshot,
      skills: Object.freeze(skills),
      find: (name: string) => skills.find((skill) => skill.name === name),
    }),
    unknown: names.filter((name) => snapshot.find(name) === undefined),
  };
}
