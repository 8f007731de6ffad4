// Reads the skill in a folder, or says why there is none.
import { readSkillBytes, refused, type SkillReading } from "../../../core/skills/read-skill.ts";
import { skillFileName } from "../../../core/skills/skill.ts";
import { skillLimits, type SkillViolation } from "../../../core/skills/skill-rules.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import type { ScopedEntry, ScopedFiles } from "../guard/scoped-files.ts";

/** Null for a folder that has nothing to do with skills. */
export async function readSkillFolder(
  scope: ScopedFiles,
  path: string,
  folder: string,
): Promise<SkillReading | null> {
  try {
    const entries = await scope.list(path);
    const file = findSkillFile(entries);
    if (file === undefined) return null;
    const problem = problemWith(file);
    if (problem !== null) return refused(problem);
    const content = await scope.readFile(`${path}/${skillFileName}`, {
      bytesMax: skillLimits.fileBytesMax,
    });
    if (content === null) return null;
    return readSkillBytes(content.bytes, content.size, folder);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return refused({ rule: "file-access", message: describeAccess(error, folder) });
  }
}

export const linkedFolder: SkillViolation = {
  rule: "file-kind",
  message: "the folder is a symbolic link, which is not followed; copy it here",
};

/** A name that is not valid text is listed with replacement characters, and so is not found. */
function describeAccess({ errorClass, message }: ToolError, folder: string): string {
  return errorClass === "not_found" && folder.includes("\ufffd")
    ? "the name of the folder is not UTF-8; rename it"
    : message;
}

/** Compares the listed names: some file systems would open any spelling. */
function findSkillFile(entries: readonly ScopedEntry[]): ScopedEntry | undefined {
  return (
    entries.find(({ name }) => name === skillFileName) ??
    entries.find(({ name }) => name.toLowerCase() === skillFileName.toLowerCase())
  );
}

function problemWith({ name, kind }: ScopedEntry): SkillViolation | null {
  if (name !== skillFileName) {
    return { rule: "file-name", message: `the file is called ${name}; rename it ${skillFileName}` };
  }
  if (kind === "file") return null;
  const what = { folder: "a folder", symlink: "a symbolic link", other: "no file" }[kind];
  return { rule: "file-kind", message: `${skillFileName} is ${what}; put the file itself there` };
}
