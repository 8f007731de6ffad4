// strata skills show: one skill, as people and models read it.
import { didYouMean } from "../../core/nearest-names.ts";
import type { StoredSkill } from "../../core/skills/skill.ts";
import type { SkillSnapshot } from "../../core/skills/skill-snapshot.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { CommandBody } from "../command.ts";
import { printResult, toPrintable } from "../ledger/render-ledger.ts";
import { readSkills } from "./skills-places.ts";
import { renderIndented } from "../table.ts";

export const run: CommandBody = async (input, io) => {
  const [name = ""] = input.operands;
  const { snapshot } = await readSkills(input, io);
  const skill = snapshot.find(name);
  if (skill === undefined) throw unknownSkill(name, snapshot);
  return printResult(input, io, { value: skill, text: toPrintable(render(skill)) });
};

function unknownSkill(name: string, { skills, problems }: SkillSnapshot): StrataError {
  const problem = problems.find(({ folder }) => folder.split("/").at(-1) === name);
  if (problem !== undefined) {
    const message = `the skill ${name} is left out: ${problem.message} [${problem.rule}]`;
    return new StrataError(
      "input-invalid",
      message,
      `fix it, then: strata skills check ${problem.folder}`,
    );
  }
  const known = skills.map((skill) => skill.name);
  const hint = didYouMean(name, known, "see: strata skills list");
  return new StrataError("not-found", `there is no skill ${JSON.stringify(name)}`, hint);
}

function render(skill: StoredSkill): string {
  const { name, description, source, folder, version, sizeTokens } = skill;
  const rows = [
    ["description", description],
    ["source", `${source}, ${folder}`],
    ["version", version],
    ["size", `about ${sizeTokens} tokens`],
    ...(skill.license === null ? [] : [["license", skill.license]]),
    ...(skill.compatibility === null ? [] : [["compatibility", skill.compatibility]]),
    ...(skill.allowedTools.length === 0 ? [] : [["allowed tools", skill.allowedTools.join(" ")]]),
    ...Object.entries(skill.metadata).map(([key, value]) => [`metadata ${key}`, value]),
  ];
  return `${name}\n${renderIndented(rows)}\n${skill.body}\n`;
}
