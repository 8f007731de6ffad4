// SKILL.md → a skill, or every rule it breaks.
import { findHidden } from "../memory/hidden-characters.ts";
import { checkFields } from "./check-fields.ts";
import { readFrontmatter } from "./frontmatter-yaml.ts";
import { sizeTokensOf, versionOf, type Skill } from "./skill.ts";
import { skillLimits, type SkillViolation, type SkillWarning } from "./skill-rules.ts";

export interface SkillReading {
  /** Null exactly if there are violations. */
  readonly skill: Skill | null;
  readonly violations: readonly SkillViolation[];
  readonly warnings: readonly SkillWarning[];
}

/** `size` is that of the whole file; the bytes may be only its beginning. */
export function readSkillBytes(bytes: Uint8Array, size: number, folder: string): SkillReading {
  if (size > skillLimits.fileBytesMax) {
    const message = `the file has ${size} bytes, at most ${skillLimits.fileBytesMax} are read; move parts of it into files beside it`;
    return refused({ rule: "file-size", message });
  }
  const text = decodeSkillText(bytes);
  return text === null ? refused(notText(bytes)) : readSkill(text, folder);
}

/** `folder` is the name of the folder that holds the file, not its path. */
export function readSkill(text: string, folder: string): SkillReading {
  const split = splitFrontmatter(text);
  if ("rule" in split) return refused(split);
  const given = readFrontmatter(split.frontmatter);
  if ("rule" in given) return refused(given);
  const { fields, violations, warnings } = checkFields(given, folder);
  const allWarnings = [...warnings, ...adviseOnText(fields.description, split.body)];
  if (violations.length > 0) return { skill: null, violations, warnings: allWarnings };
  const { body } = split;
  const skill = { ...fields, body, version: versionOf(body), sizeTokens: sizeTokensOf(body) };
  return { skill, violations: [], warnings: allWarnings };
}

/** Splits at the two lines of ---. Accepts any line endings and a byte order mark. Both parts have line feeds only. */
function splitFrontmatter(
  text: string,
): { readonly frontmatter: string; readonly body: string } | SkillViolation {
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

export function refused(violation: SkillViolation): SkillReading {
  return { skill: null, violations: [violation], warnings: [] };
}

/** Null if the bytes are not UTF-8 text. */
export function decodeSkillText(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

function notText(bytes: Uint8Array): SkillViolation {
  const [first, second] = bytes;
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const message = isUtf16
    ? "the file is UTF-16; save it as UTF-8"
    : "the file is binary, or not UTF-8; save it as UTF-8 text";
  return { rule: "file-text", message };
}

function adviseOnText(description: string, body: string): readonly SkillWarning[] {
  const warnings: SkillWarning[] = [];
  const tokens = sizeTokensOf(body);
  if (body === "") {
    warnings.push({ rule: "body-empty", message: "there is nothing after the frontmatter" });
  } else if (tokens > skillLimits.bodyTokensAdvised) {
    const message = `the body has about ${tokens} tokens; above ${skillLimits.bodyTokensAdvised}, move parts of it into files beside it`;
    warnings.push({ rule: "body-long", message });
  }
  const [hidden] = [...findHidden(description), ...findHidden(body)];
  if (hidden !== undefined) {
    const message = `there is a hidden character, ${hidden}: a model reads it and people do not`;
    warnings.push({ rule: "hidden-characters", message });
  }
  return warnings;
}
