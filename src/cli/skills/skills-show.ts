// strata skills show: one skill, as people and models read it.
import { nearestNames } from "../../core/nearest-names.ts";
import type { StoredSkill } from "../../core/skills/skill.ts";
import type { SkillSnapshot } from "../../core/skills/skill-snapshot.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { CommandBody } from "../command.ts";
import { toJsonLine, toPrintable } from "../ledger/render-ledger.ts";
import { readSkills } from "./skills-places.ts";

export const run: CommandBody = async (input, io) => {
  const [name = ""] = input.operands;
  const { snapshot } = await readSkills(input, io);
  const skill = snapshot.find(name);
  if (skill === undefined) throw unknownSkill(name, snapshot);
  io.out(input.switches.has("json") ? toJsonLine(skill) : toPrintable(render(skill)));
  return 0;
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
  const near = nearestNames(name.slice(0, 64), known, 3);
  const hint = near.length > 0 ? `did you mean ${near.join(" or ")}?` : "see: strata skills list";
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
  const width = Math.max(...rows.map(([title = ""]) => title.length));
  const lines = rows.map(([title = "", value = ""]) => `  ${title.padEnd(width)}  ${value}`);
  return `${name}\n${lines.join("\n")}\n\n${skill.body}\n`;
}
