// A skill: instructions an agent reads on demand, in a folder with a SKILL.md (agentskills.io).
import { hashContent } from "../hash.ts";

export interface Skill {
  readonly name: string;
  readonly description: string;
  /** The text after the frontmatter, with line feeds only and no blank lines around it. */
  readonly body: string;
  readonly version: SkillVersion;
  readonly sizeTokens: number;
  readonly license: string | null;
  readonly compatibility: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** Shown, not enforced. */
  readonly allowedTools: readonly string[];
}

export type SkillSource = "global" | "workspace";

export interface StoredSkill extends Skill {
  readonly source: SkillSource;
  /** The folder's name for people. */
  readonly folder: string;
}

/** 16 hex digits of the body's hash. A new description is not a new version. */
export type SkillVersion = string;

export function versionOf(body: string): SkillVersion {
  return hashContent(body).slice(0, 16);
}

/** Four characters per token, as the activation limits count. */
export function sizeTokensOf(body: string): number {
  return Math.max(1, Math.floor(body.length / 4));
}

/** Upper case on every file system. */
export const skillFileName = "SKILL.md";
