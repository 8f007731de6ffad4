// strata skills list: the skills of a session in this folder, and those left out.
import type { StoredSkill } from "../../core/skills/skill.ts";
import type { SkillProblem, SkillSnapshot } from "../../core/skills/skill-snapshot.ts";
import type { CommandBody } from "../command.ts";
import { printResult, toPrintable, toShort } from "../ledger/render-ledger.ts";
import { readSkills } from "./skills-places.ts";
import { renderTable, type Column } from "../table.ts";

export const run: CommandBody = async (input, io) => {
  const { snapshot } = await readSkills(input, io);
  return printResult(input, io, { value: describe(snapshot), text: render(snapshot) });
};

function describe({ skills, problems, warnings, shadowed }: SkillSnapshot): unknown {
  return {
    skills: skills.map(withoutBody),
    shadowed: shadowed.map(withoutBody),
    problems,
    warnings,
  };
}

function withoutBody({ body: _body, ...rest }: StoredSkill): Omit<StoredSkill, "body"> {
  return rest;
}

function render({ skills, problems, warnings, shadowed }: SkillSnapshot): string {
  const list = skills.length === 0 ? "There are no skills.\n" : renderTable(columns, skills);
  const notes = [
    ...shadowed.map(({ name }) => `${name}: the workspace's skill hides the global one`),
    ...problems.map((problem) => `left out: ${describeProblem(problem)}`),
    ...warnings.map(({ folder, rule, message }) => `${folder}: ${message} [${rule}]`),
  ];
  return notes.length === 0 ? list : `${list}\n${notes.map(toPrintable).join("\n")}\n`;
}

function describeProblem({ folder, rule, message }: SkillProblem): string {
  return `${folder}: ${message} [${rule}]`;
}

const columns: readonly Column<StoredSkill>[] = [
  { title: "skill", cell: ({ name }) => name },
  { title: "source", cell: ({ source }) => source },
  { title: "version", cell: ({ version }) => version },
  { title: "tokens", cell: ({ sizeTokens }) => String(sizeTokens), align: "right" },
  { title: "description", cell: ({ description }) => toShort(description, 60) },
];
