// Reads a text file that comes with a skill, such as references/forms.md.
import { decodeSkillText } from "../../../core/skills/read-skill.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import type { RootPlace } from "./read-skill-root.ts";

const bytesMax = 131_072;

/** The guard keeps paths inside the root. A skill may not read the folder of another either. */
export async function readBesideSkill(
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
