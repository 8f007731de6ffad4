// Checks the fields of a frontmatter against the rules of the format.
import { writeFrontmatter, type Field } from "./frontmatter-yaml.ts";
import { skillLimits, type SkillViolation, type SkillWarning } from "./skill-rules.ts";
import type { Skill } from "./skill.ts";

export interface CheckedFields {
  readonly fields: Omit<Skill, "body" | "version" | "sizeTokens">;
  readonly violations: readonly SkillViolation[];
  readonly warnings: readonly SkillWarning[];
}

/** With violations, the fields hold what could be read. */
export function checkFields(given: ReadonlyMap<string, Field>, folder: string): CheckedFields {
  const violations: SkillViolation[] = [];
  const warnings: SkillWarning[] = [];
  const report = (rule: SkillViolation["rule"], message: string): void => {
    violations.push({ rule, message });
  };
  const name = readText(given.get("name")) ?? "";
  const description = readText(given.get("description")) ?? "";
  const license = readOptional("license", "license-text");
  const compatibility = readOptional("compatibility", "compatibility-text");
  violations.push(...checkName(name, folder), ...checkDescription(description));
  const length = lengthOf(compatibility ?? "");
  if (length > skillLimits.compatibilityLengthMax) {
    const most = skillLimits.compatibilityLengthMax;
    report("compatibility-length", `the compatibility has ${length} characters, at most ${most}`);
  }
  const metadata = readMetadata(given.get("metadata"), report);
  const allowedTools = readAllowedTools(given.get("allowed-tools"), report, warnings);
  const odd = [...given].find(([, value]) => hasControls(value))?.[0];
  if (odd !== undefined) {
    const message = `${quote(odd)} has control characters or half a character; write it in plain text`;
    report("frontmatter-characters", message);
  }
  const unknown = [...given.keys()].filter((key) => !knownFields.has(key));
  if (unknown.length > 0) {
    const message = `the format has no ${unknown.map(quoteIfOdd).join(", ")}; own fields belong under metadata`;
    warnings.push({ rule: "field-unknown", message });
  }
  const fields = { name, description, license, compatibility, metadata, allowedTools };
  return { fields, violations, warnings };

  function readOptional(field: string, rule: SkillViolation["rule"]): string | null {
    const value = given.get(field);
    const text = readText(value);
    if (text === null && value !== undefined && value.kind !== "none") {
      report(rule, `${field} is a ${value.kind}; make it text`);
    }
    return text;
  }
}

const knownFields = new Set([
  "name",
  "description",
  "license",
  "compatibility",
  "metadata",
  "allowed-tools",
]);

/** Escapes can spell characters that no file may contain and no provider accepts. */
function hasControls(field: Field): boolean {
  switch (field.kind) {
    case "none":
      return false;
    case "text":
      return !field.text.isWellFormed() || /(?![\n\t])\p{Cc}/u.test(field.text);
    case "list":
      return field.items.some(hasControls);
    case "map":
      return [...field.entries].some(([key, value]) => /\p{Cc}/u.test(key) || hasControls(value));
  }
}

function readText(field: Field | undefined): string | null {
  return field?.kind === "text" ? field.text.trim() : null;
}

/** Compares only valid names with the folder: an invalid one must change anyway. */
function checkName(name: string, folder: string): readonly SkillViolation[] {
  if (name === "") {
    // YAML would read some names as something other than text, so the line is quoted if needed.
    const line = writeFrontmatter({ name: folder }).trimEnd();
    return [{ rule: "name-missing", message: `there is no name; write the line ${line}` }];
  }
  const violations: SkillViolation[] = [];
  const length = lengthOf(name);
  if (length > skillLimits.nameLengthMax) {
    const message = `the name has ${length} characters, at most ${skillLimits.nameLengthMax}`;
    violations.push({ rule: "name-length", message });
  }
  const other = /[^a-z0-9-]/u.exec(name)?.[0];
  if (other !== undefined) {
    const message = `the name ${quote(name)} has ${quote(other)}; use a to z, 0 to 9 and hyphens`;
    violations.push({ rule: "name-characters", message });
  }
  if (/^-|-$|--/.test(name)) {
    const message = `the name ${quote(name)} has a hyphen at an end, or two in a row`;
    violations.push({ rule: "name-hyphens", message });
  }
  if (violations.length === 0 && name !== folder) {
    const message = `the name is ${quote(name)} and the folder ${quote(folder)}; make them the same`;
    violations.push({ rule: "name-folder", message });
  }
  return violations;
}

function checkDescription(description: string): readonly SkillViolation[] {
  if (description === "") {
    const message = "there is no description; say what the skill does and when to use it";
    return [{ rule: "description-missing", message }];
  }
  const length = lengthOf(description);
  if (length <= skillLimits.descriptionLengthMax) return [];
  const message = `the description has ${length} characters, at most ${skillLimits.descriptionLengthMax}`;
  return [{ rule: "description-length", message }];
}

type Report = (rule: SkillViolation["rule"], message: string) => void;

function readMetadata(field: Field | undefined, report: Report): Readonly<Record<string, string>> {
  if (field === undefined || field.kind === "none") return {};
  if (field.kind !== "map") {
    report("metadata-map", `metadata is a ${field.kind}; write names and values below it`);
    return {};
  }
  const pairs: [string, string][] = [];
  for (const [key, value] of field.entries) {
    if (value.kind === "text") pairs.push([key, value.text]);
    else if (value.kind === "none") pairs.push([key, ""]);
    else report("metadata-map", `${quote(key)} in metadata is a ${value.kind}; make it text`);
  }
  return Object.fromEntries(pairs);
}

/** `Bash(git add:*)` is one tool. Commas and lists are common mistakes, so they are accepted. */
function readAllowedTools(
  field: Field | undefined,
  report: Report,
  warnings: SkillWarning[],
): readonly string[] {
  if (field === undefined || field.kind === "none") return [];
  if (field.kind === "text") return field.text.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? [];
  const texts = field.kind === "list" ? field.items.map((item) => readText(item)) : [null];
  const names = texts.filter((text) => text !== null);
  if (names.length < texts.length) {
    report("allowed-tools-text", "allowed-tools is nested; write names with spaces between them");
    return [];
  }
  const message = "allowed-tools is a list; other programs may only know names with spaces";
  warnings.push({ rule: "allowed-tools-list", message });
  return names;
}

/** In characters, as people count them. */
function lengthOf(text: string): number {
  return Array.from(text).length;
}

function quoteIfOdd(text: string): string {
  return /^[\w.-]{1,64}$/.test(text) ? text : quote(text);
}

function quote(text: string): string {
  const characters = Array.from(text);
  return JSON.stringify(characters.length <= 64 ? text : `${characters.slice(0, 64).join("")}…`);
}
