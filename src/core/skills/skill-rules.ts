// The rules of a SKILL.md, one name per rule. The lists are closed: CI checks refer to the names.

/** Breaking one of these makes a skill invalid. */
export const skillRules = {
  "file-name": "the file is called SKILL.md, in capitals",
  "file-kind": "SKILL.md is a file, and neither it nor its folder is a link",
  "file-access": "SKILL.md can be read",
  "file-size": "SKILL.md has at most 512 KiB",
  "file-text": "SKILL.md is text in UTF-8",
  "frontmatter-missing": "the first line is ---",
  "frontmatter-unclosed": "a line --- ends the frontmatter",
  "frontmatter-size": "the frontmatter has at most 16 KiB",
  "frontmatter-yaml": "the frontmatter is YAML",
  "frontmatter-alias": "the frontmatter has no anchors and aliases",
  "frontmatter-tag": "the frontmatter has no tags",
  "frontmatter-depth": "the frontmatter is not nested more than 8 deep",
  "frontmatter-mapping": "the frontmatter maps names to values",
  "frontmatter-characters": "texts of the frontmatter have no control characters",
  "name-missing": "there is a name",
  "name-length": "the name has at most 64 characters",
  "name-characters": "the name has only a to z, 0 to 9 and hyphens",
  "name-hyphens": "hyphens of the name stand alone and inside",
  "name-folder": "the folder has the skill's name",
  "description-missing": "there is a description",
  "description-length": "the description has at most 1024 characters",
  "license-text": "the license is text",
  "compatibility-text": "the compatibility is text",
  "compatibility-length": "the compatibility has at most 500 characters",
  "metadata-map": "the metadata maps names to single values",
  "allowed-tools-text": "allowed-tools are names with spaces between them",
} as const;

/** Warnings: reported, but harmless. */
export const skillAdvice = {
  "body-empty": "there is something to read after the frontmatter",
  "body-long": "the body has at most 5000 tokens, by length",
  "field-unknown": "the frontmatter has only fields of the format",
  "allowed-tools-list": "allowed-tools are one text, not a list",
  "hidden-characters": "no characters that a model reads and people do not see",
} as const;

export type SkillRule = keyof typeof skillRules;
export type SkillAdvice = keyof typeof skillAdvice;

export interface SkillViolation {
  readonly rule: SkillRule;
  /** What is wrong in this skill, and what to do. */
  readonly message: string;
}

export interface SkillWarning {
  readonly rule: SkillAdvice;
  readonly message: string;
}

export const skillLimits = {
  fileBytesMax: 524_288,
  frontmatterBytesMax: 16_384,
  depthMax: 8,
  nameLengthMax: 64,
  descriptionLengthMax: 1024,
  compatibilityLengthMax: 500,
  bodyTokensAdvised: 5000,
} as const;

export function isSkillRule(name: string): name is SkillRule {
  return Object.hasOwn(skillRules, name);
}
