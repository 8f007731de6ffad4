// The texts a model gets when it loads a skill.
import type { Activation } from "./activation.ts";
import type { StoredSkill } from "./skill.ts";

/** The heading names the skill and version, so that the history alone shows what was loaded. */
export function toLoadedText(skill: StoredSkill): string {
  return `${headingOf(skill)}\n\n${skill.body}`;
}

/** Name and version of a loaded text. Null for any other text. */
export function readLoadedText(
  text: string,
): { readonly name: string; readonly version: string; readonly body: string } | null {
  const match = loadedPattern.exec(text);
  if (match === null) return null;
  const [heading, name = "", version = ""] = match;
  return { name, version, body: text.slice(heading.length) };
}

const loadedPattern =
  /^# Skill: ([a-z0-9-]{1,64}) \((?:global|workspace), version ([0-9a-f]{16})\)\n\n/;

function headingOf({ name, source, version }: StoredSkill): string {
  return `# Skill: ${name} (${source}, version ${version})`;
}

/** Replaces a body that is already in the prompt. */
export function toPreactivatedPointer({ name, source }: StoredSkill): string {
  return (
    `Skill ${name} (${source})\n\n` +
    `Its whole text is in the system prompt already, under the heading "# Skill: ${name}". Read it there; it is not repeated here.`
  );
}

/** Replaces a body that is already in the history. */
export function toLoadedPointer({ name, source }: StoredSkill, earlier: Activation): string {
  return (
    `Skill ${name} (${source})\n\n` +
    `It was loaded before: its whole text is in the result of tool call ${earlier.toolUseId}. Read it there; it is not repeated here.`
  );
}
