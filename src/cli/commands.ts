// The command table: everything `strata` can do, in the order help shows it.
import type { Command, OptionSpec } from "./command.ts";

const json: OptionSpec = { meaning: "print one JSON value for machines" };
const models: OptionSpec = { value: "FILE", meaning: "models to add or override, as JSON" };

export const commands: readonly Command[] = [
  {
    name: "models list",
    alias: "models",
    summary: "List the models Strata has facts about, with prices and cache minimums",
    operands: [],
    options: {
      provider: { value: "NAME", meaning: "only models of this provider" },
      all: { meaning: "retired models too" },
      models,
      json,
    },
    examples: [
      { command: "strata models", shows: "every model still in service" },
      { command: "strata models list --provider openai --json", shows: "OpenAI's, for a script" },
    ],
    load: () => import("./models-list.ts"),
  },
  {
    name: "models show",
    summary: "Show what is known about one model: window, prices, cache rules, capabilities",
    operands: [{ name: "ID", meaning: "a model id, in any provider's spelling" }],
    options: { models, json },
    examples: [
      { command: "strata models show claude-sonnet-5-5", shows: "its prices and cache rules" },
      {
        command: "strata models show us.anthropic.claude-sonnet-4-5-20250929-v1:0 --json",
        shows: "the same model as Bedrock spells it, with Bedrock's cache rules",
      },
    ],
    load: () => import("./models-show.ts"),
  },
  {
    name: "doctor",
    summary: "Check that this machine has what Strata needs",
    operands: [],
    options: { json },
    examples: [
      { command: "strata doctor", shows: "each check, and what to do where one fails" },
      { command: "strata doctor --json", shows: "the same for a script; exit status 8 on failure" },
    ],
    load: () => import("./doctor.ts"),
  },
];
