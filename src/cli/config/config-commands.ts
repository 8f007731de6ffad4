// The rows of the command table that are about the configuration.
import { json, type Command, type OptionSpec } from "../command.ts";

const places: Readonly<Record<string, OptionSpec>> = {
  config: {
    value: "FILE",
    meaning: "read only this file; default: STRATA_CONFIG, else your own file and the workspace's",
  },
  workspace: {
    value: "DIR",
    meaning: "read the strata.yaml of this folder; default: the current folder",
  },
};

export const configCommands: readonly Command[] = [
  {
    name: "config show",
    alias: "config",
    summary: "Show every setting with its value and where it came from; secrets are masked",
    operands: [
      {
        name: "KEY",
        meaning: "show only this setting or group, with its meaning",
        count: "optional",
      },
    ],
    options: { ...places, json },
    examples: {
      "strata config": "every setting in effect here, and its origin",
      "strata config show llm.context_optimization.compaction --json":
        "one group of settings, for a script",
    },
    load: () => import("./config-show.ts"),
  },
  {
    name: "config check",
    summary: "Check a configuration and list every problem with line and column",
    operands: [
      {
        name: "FILE",
        meaning: "check only this file; default: every file in effect here",
        count: "optional",
      },
    ],
    options: { ...places, json },
    examples: {
      "strata config check deploy/strata.yaml": "ok, or each problem; exit status 5 on an error",
    },
    load: () => import("./config-check.ts"),
  },
  {
    name: "config path",
    summary:
      "List the configuration files Strata looks for: which exist, which are limited, which are trusted",
    options: { ...places, json },
    examples: { "strata config path": "each file; later files win" },
    load: () => import("./config-path.ts"),
  },
  {
    name: "config trust",
    summary: "Trust the present content of a configuration file that lies in the workspace",
    operands: [
      {
        name: "FILE",
        meaning: "the file that --config or STRATA_CONFIG names; default: STRATA_CONFIG",
        count: "optional",
      },
    ],
    options: {
      trust: {
        value: "HASH",
        meaning: "trust the file only if its content has this hash; do not ask",
      },
      ...places,
      json,
    },
    examples: {
      "strata config trust deploy/strata.yaml": "its settings and its hash; asks first",
      "strata config trust deploy/strata.yaml --trust sha256:2c26…":
        "the same without a terminal; fails if the content is another",
    },
    load: () => import("./config-trust.ts"),
  },
];
