// The rows of the command table that are about the configuration.
import type { Command, OptionSpec } from "../command.ts";

const json: OptionSpec = { meaning: "print one JSON value for machines" };
const places: Readonly<Record<string, OptionSpec>> = {
  config: {
    value: "FILE",
    meaning: "this file and no other; by default STRATA_CONFIG, else your own and the workspace's",
  },
  workspace: { value: "DIR", meaning: "whose strata.yaml; the current folder by default" },
};

export const configCommands: readonly Command[] = [
  {
    name: "config show",
    alias: "config",
    summary: "Show every setting with its value and where it came from; secrets are masked",
    operands: [
      {
        name: "KEY",
        meaning: "only this setting, or those below it, with what it means",
        count: "optional",
      },
    ],
    options: { ...places, json },
    examples: [
      { command: "strata config", shows: "everything that holds here, and why" },
      {
        command: "strata config show llm.context_optimization.compaction --json",
        shows: "one group of settings, for a script",
      },
    ],
    load: () => import("./config-show.ts"),
  },
  {
    name: "config check",
    summary: "Check a configuration, and name everything that is wrong with line and column",
    operands: [
      {
        name: "FILE",
        meaning: "a strata.yaml by itself; by default everything that holds here",
        count: "optional",
      },
    ],
    options: { ...places, json },
    examples: [
      {
        command: "strata config check deploy/strata.yaml",
        shows: "ok, or each problem; exit status 5 when there is an error",
      },
    ],
    load: () => import("./config-check.ts"),
  },
  {
    name: "config path",
    summary: "Say which files are looked at for a configuration, in which order, and which exist",
    operands: [],
    options: { ...places, json },
    examples: [{ command: "strata config path", shows: "each file; a later one wins" }],
    load: () => import("./config-path.ts"),
  },
];
