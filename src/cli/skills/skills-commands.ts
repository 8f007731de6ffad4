// The rows of the command table that are about skills.
import { json, type Command, type OptionSpec } from "../command.ts";

const places: Readonly<Record<string, OptionSpec>> = {
  workspace: {
    value: "DIR",
    meaning: "use .strata/skills (or .metis/skills) of this folder; default: the current folder",
  },
  global: {
    value: "DIR",
    meaning: "skills for every workspace; default: ~/.strata/skills; -: none",
  },
};

export const skillsCommands: readonly Command[] = [
  {
    name: "skills list",
    alias: "skills",
    summary: "List the skills of a session in this folder, and why others are left out",
    options: { ...places, json },
    examples: {
      "strata skills": "each skill with its source, version and size",
      "strata skills list --workspace ../shop --global - --json":
        "only the skills of another workspace, for a script",
    },
    load: () => import("./skills-list.ts"),
  },
  {
    name: "skills show",
    summary: "Show one skill: its frontmatter, and its body as a model reads it",
    operands: [{ name: "NAME", meaning: "the name of a skill" }],
    options: { ...places, json },
    examples: { "strata skills show pdf-forms": "the whole skill" },
    load: () => import("./skills-show.ts"),
  },
  {
    name: "skills search",
    summary: "Find skills by words of their name or description, as skill_search does",
    operands: [{ name: "QUERY", meaning: "words to look for", count: "several" }],
    options: { ...places, limit: { value: "N", meaning: "at most N skills; default: 10" }, json },
    examples: { "strata skills search fill form": "what an agent finds" },
    load: () => import("./skills-search.ts"),
  },
  {
    name: "skills check",
    summary: "Check every SKILL.md below a folder and name the rules it breaks",
    operands: [{ name: "DIR", meaning: "a skill, or a folder with skills anywhere below it" }],
    options: {
      ignore: { value: "RULES", meaning: "rules to ignore, comma-separated" },
      strict: { meaning: "treat warnings as errors" },
      json,
    },
    examples: {
      "strata skills check .strata/skills":
        "each skill, ok or with its problems; exit status 1 if one is invalid",
      "strata skills check vendor --ignore name-folder --json":
        "the same for a script; folder names are not checked",
    },
    load: () => import("./skills-check.ts"),
  },
];
