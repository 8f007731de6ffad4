// The rows of the command table that are about skills.
import type { Command, OptionSpec } from "../command.ts";

const json: OptionSpec = { meaning: "print one JSON value for machines" };
const places: Readonly<Record<string, OptionSpec>> = {
  workspace: {
    value: "DIR",
    meaning: "whose .strata/skills, or else .metis/skills; the current folder by default",
  },
  global: {
    value: "DIR",
    meaning: "skills for every workspace; ~/.strata/skills by default, - for none",
  },
};

export const skillsCommands: readonly Command[] = [
  {
    name: "skills list",
    alias: "skills",
    summary: "List the skills a session here would have, and why others are left out",
    operands: [],
    options: { ...places, json },
    examples: [
      { command: "strata skills", shows: "each skill with its source, version and size" },
      {
        command: "strata skills list --workspace ../shop --global - --json",
        shows: "only those of another workspace, for a script",
      },
    ],
    load: () => import("./skills-list.ts"),
  },
  {
    name: "skills show",
    summary: "Show one skill: what its frontmatter says, and its body as a model reads it",
    operands: [{ name: "NAME", meaning: "the name of a skill" }],
    options: { ...places, json },
    examples: [{ command: "strata skills show pdf-forms", shows: "the whole skill" }],
    load: () => import("./skills-show.ts"),
  },
  {
    name: "skills search",
    summary: "Find skills as skill_search does: by words of their name or description",
    operands: [{ name: "QUERY", meaning: "what to look for", count: "several" }],
    options: { ...places, limit: { value: "N", meaning: "at most so many; 10 by default" }, json },
    examples: [{ command: "strata skills search fill form", shows: "what an agent would find" }],
    load: () => import("./skills-search.ts"),
  },
  {
    name: "skills check",
    summary: "Check every SKILL.md below a folder, and name the rules that one breaks",
    operands: [{ name: "DIR", meaning: "a skill, or a folder with skills anywhere below it" }],
    options: {
      ignore: { value: "RULES", meaning: "rules that may be broken, with commas between them" },
      strict: { meaning: "warnings count as well" },
      json,
    },
    examples: [
      {
        command: "strata skills check .strata/skills",
        shows: "each skill with ok or what is wrong; exit status 1 when one is invalid",
      },
      {
        command: "strata skills check vendor --ignore name-folder --json",
        shows: "the same for a script, whatever the folders are called",
      },
    ],
    load: () => import("./skills-check.ts"),
  },
];
