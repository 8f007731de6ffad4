// A skill as it is written to a file.
import { writeFrontmatter } from "./frontmatter-yaml.ts";

export interface NewSkill {
  readonly name: string;
  readonly description: string;
  readonly body: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The caller reads the result back: the rules are checked only there. */
export function toSkillText({ name, description, body, metadata = {} }: NewSkill): string {
  const fields = {
    name,
    description: description.trim(),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  };
  return `---\n${writeFrontmatter(fields)}---\n\n${body.replace(/\r\n?/g, "\n").trimEnd()}\n`;
}
