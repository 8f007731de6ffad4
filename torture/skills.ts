// Random SKILL.md files: valid ones pass, and for the others the broken rule is named.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRandom } from "../harness/random-message.ts";
import {
  breakable,
  brokenSkill,
  randomSkill,
  type SkillFile,
} from "../harness/random/random-skills.ts";
import { exactly, wholeNumber, type Experiment } from "../harness/report.ts";
import { findSkills, type FoundSkill } from "../src/edge/files/skills/find-skills.ts";
import { openScope } from "../src/edge/files/guard/scoped-files.ts";

export const experiment: Experiment = {
  summary: "skills check passes valid files and names the rule that others break",
  options: {
    count: "how many generated files, 500 by default",
    seed: "where to start, 1 by default",
    dir: "a folder of real skills, whose violations are counted by rule",
  },
  async run(settings) {
    const count = wholeNumber(settings, "count", 500);
    const seed = wholeNumber(settings, "seed", 1);
    const { valid, broken, wrong } = await checkGenerated(count, seed, settings.progress);
    const dir = settings.options["dir"];
    const real = dir === undefined ? {} : await checkReal(dir);
    return {
      figures: { seed, "valid files": valid, "broken files": broken, ...real },
      checks: [exactly("files judged wrongly", wrong, 0)],
    };
  },
};

interface Judged {
  readonly valid: number;
  readonly broken: number;
  readonly wrong: number;
}

async function checkGenerated(
  count: number,
  seed: number,
  progress: (line: string) => void,
): Promise<Judged> {
  const folder = mkdtempSync(join(tmpdir(), "strata-skills-"));
  try {
    const random = createRandom(seed);
    const files = new Map<string, SkillFile>();
    for (let index = 0; index < count; index += 1) {
      const rule = breakable[(index >> 1) % breakable.length] ?? "file-text";
      const file = index % 2 === 0 ? randomSkill(random) : brokenSkill(random, rule);
      const set = `set-${index}`;
      writeSkill(join(folder, set, file.folder), file);
      files.set(set, file);
    }
    const { found: skills } = await findSkills(await openScope(folder));
    const found = new Map(skills.map((skill) => [skill.path.split("/")[0] ?? "", skill]));
    const wrong = [...files].filter(([set, file]) => !isRight(file, found.get(set)));
    for (const [set, file] of wrong.slice(0, 10)) {
      const said = found
        .get(set)
        ?.reading.violations.map((violation) => violation.rule)
        .join(", ");
      progress(
        `${file.folder}: breaks ${file.broken ?? "nothing"}, and the check says ${said ?? "nothing"}`,
      );
    }
    const valid = [...files.values()].filter(({ broken }) => broken === null).length;
    return { valid, broken: count - valid, wrong: wrong.length };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeSkill(path: string, { fileName, bytes }: SkillFile): void {
  mkdirSync(path, { recursive: true });
  if (bytes === null) symlinkSync("/etc/passwd", join(path, fileName));
  else writeFileSync(join(path, fileName), bytes);
}

function isRight({ broken }: SkillFile, found: FoundSkill | undefined): boolean {
  const rules = found?.reading.violations.map(({ rule }) => rule) ?? [];
  return found !== undefined && (broken === null ? rules.length === 0 : rules.includes(broken));
}

async function checkReal(dir: string): Promise<Record<string, number>> {
  const { found: skills } = await findSkills(await openScope(dir));
  const figures: Record<string, number> = { "real skills": skills.length };
  for (const { reading } of skills) {
    for (const { rule } of reading.violations) {
      figures[`real skills that break ${rule}`] =
        (figures[`real skills that break ${rule}`] ?? 0) + 1;
    }
  }
  return figures;
}
