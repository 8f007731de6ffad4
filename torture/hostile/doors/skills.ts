// SKILL.md files: the reader on texts, and a workspace with skills from others.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createRandom, type Random } from "../../../harness/random-message.ts";
import { breakable, brokenSkill, randomSkill } from "../../../harness/random/random-skills.ts";
import { readSkillBytes, type SkillReading } from "../../../src/core/skills/read-skill.ts";
import { searchSkills } from "../../../src/core/skills/search-skills.ts";
import { openScope } from "../../../src/edge/files/guard/scoped-files.ts";
import { findSkills } from "../../../src/edge/files/skills/find-skills.ts";
import { createSkillStore } from "../../../src/edge/files/skills/skill-store.ts";
import type { OpenDoor, Outcome } from "../door.ts";
import { mutateBytes, mutateText, oddText, pick } from "../mutate.ts";
import { canaryFile, putOddFile, withToolErrors } from "../odd-files.ts";

interface Sample {
  readonly folder: string;
  readonly bytes: Buffer;
}

function samples(): readonly Sample[] {
  const random = createRandom(1);
  const valid = Array.from({ length: 40 }, () => randomSkill(random));
  const broken = breakable
    .filter((rule) => rule !== "file-size")
    .map((rule) => brokenSkill(random, rule));
  return [...valid, ...broken].flatMap(({ folder, bytes }) =>
    bytes === null ? [] : [{ folder, bytes }],
  );
}

export function openTexts(): OpenDoor {
  const all = samples();
  return {
    attempt: (random) => {
      const { folder, bytes } = pick(random, all);
      const made =
        random() < 0.3
          ? bytes
          : random() < 0.5
            ? mutateBytes(random, bytes)
            : Buffer.from(mutateText(random, bytes.toString()));
      return judge(readSkillBytes(made, made.length, random() < 0.9 ? folder : oddText(random)));
    },
  };
}

function judge({ skill, violations, warnings }: SkillReading): Outcome {
  const refusals = violations.map(({ rule, message }) => ({ code: rule, hint: message }));
  return { isAccepted: skill !== null, outputs: warnings.map(({ message }) => message), refusals };
}

export function openFiles(folder: string): OpenDoor {
  const all = samples();
  const workspace = join(folder, "workspace");
  const canary = canaryFile(folder);
  return {
    reset: () => {
      rmSync(workspace, { recursive: true, force: true });
      mkdirSync(join(workspace, ".strata/skills"), { recursive: true });
    },
    attempt: (random) => {
      const { folder: name, bytes } = pick(random, all);
      const root = join(
        workspace,
        pick(random, [".strata/skills", ".strata/skills", ".metis/skills"]),
      );
      if (random() < 0.03) putOddFile(random, join(root, "a-skill"), "x", canary);
      else putOddFile(random, join(root, toName(name), "SKILL.md"), bytes.toString(), canary);
      return withToolErrors(() => use(random, workspace));
    },
  };
}

/** Some samples are folders that cannot be. */
function toName(folder: string): string {
  const name = folder.replace(/[/\0]/g, "-").slice(0, 100);
  return name === "" || /^\.*$/.test(name) ? "x" : name;
}

async function use(random: Random, workspace: string): Promise<Outcome> {
  const store = await createSkillStore({ workspace, globalRoot: join(workspace, "missing") });
  const { skills, problems, warnings } = store.snapshot;
  const outputs = [...problems, ...warnings].map(({ message }) => message);
  const refusals = problems.map(({ rule, message }) => ({ code: rule, hint: message }));
  const outcome = { isAccepted: skills.length > 0, outputs, refusals };
  const kind = random();
  const [skill] = skills;
  if (kind < 0.3) searchSkills(skills, oddText(random), 5);
  else if (kind < 0.5 && skill !== undefined) {
    const path = pick(random, [
      "SKILL.md",
      "../../../../canary/secret.txt",
      "/etc/passwd",
      oddText(random),
    ]);
    return { ...outcome, outputs: [...outputs, await store.readFile(skill, path)] };
  } else if (kind < 0.6) {
    await store.save({
      name: random() < 0.5 ? "new-skill" : oddText(random),
      description: oddText(random),
      body: oddText(random),
    });
  } else if (kind < 0.7) await findSkills(await openScope(workspace));
  return outcome;
}
