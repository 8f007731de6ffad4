// Splits a SKILL.md into the YAML between two lines of --- and the body after them.
import { skillLimits, type SkillViolation } from "./skill-rules.ts";

export interface SplitSkill {
  readonly frontmatter: string;
  readonly body: string;
}

/** Accepts any line endings and a byte order mark. Both parts have line feeds only. */
export function splitFrontmatter(text: string): SplitSkill | SkillViolation {
  const lines = text
    .replace(/^\ufeff/, "")
    .replace(/\r\n?/g, "\n")
    .split("\n");
  if (!isFence(lines[0])) {
    return {
      rule: "frontmatter-missing",
      message: "the first line is not ---; begin the file with frontmatter between two such lines",
    };
  }
  const end = lines.findIndex((line, index) => index > 0 && isFence(line));
  if (end === -1) {
    return {
      rule: "frontmatter-unclosed",
      message: "no second line is ---; put one where the frontmatter ends",
    };
  }
  const frontmatter = lines.slice(1, end).join("\n");
  const size = new TextEncoder().encode(frontmatter).length;
  if (size > skillLimits.frontmatterBytesMax) {
    return {
      rule: "frontmatter-size",
      message: `the frontmatter has ${size} bytes, at most ${skillLimits.frontmatterBytesMax} are read; move text into the body`,
    };
  }
  return { frontmatter, body: withoutBlankEdges(lines.slice(end + 1)) };
}

/** The first line keeps its indentation: it may be code. */
function withoutBlankEdges(lines: readonly string[]): string {
  const first = lines.findIndex((line) => line.trim() !== "");
  return first === -1 ? "" : lines.slice(first).join("\n").trimEnd();
}

function isFence(line: string | undefined): boolean {
  return line !== undefined && /^---[ \t]*$/.test(line);
}
