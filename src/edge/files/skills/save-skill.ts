// Saves a new skill in a workspace, whole or not at all, and never replaces another.
import { readSkillBytes } from "../../../core/skills/read-skill.ts";
import { skillFileName, type StoredSkill } from "../../../core/skills/skill.ts";
import { toSkillText, type NewSkill } from "../../../core/skills/write-skill.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import type { RootPlace } from "./read-skill-root.ts";

/** Reads the exact bytes by the rules for all skills before it writes them. This also makes the name a safe path. */
export async function saveSkill(place: RootPlace, given: NewSkill): Promise<StoredSkill> {
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
