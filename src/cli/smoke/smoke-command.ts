// The row of the command table for `strata smoke`.
import type { Command } from "../command.ts";

export const smokeCommand: Command = {
  name: "smoke",
  summary: "Check with two turns that a provider caches and bills it: written first, then read",
  operands: [],
  options: {
    model: {
      value: "ID",
      meaning: "haiku (default), sonnet, opus or any id; without a key it is simulated",
    },
    config: {
      value: "FILE",
      meaning: "instead of your own strata.yaml; one of the current folder is not read",
    },
    json: { meaning: "print one JSON value for machines" },
  },
  examples: [
    { command: "strata smoke --model sonnet", shows: "what two turns wrote, read and cost" },
    {
      command: "strata smoke --model gpt-6.1-terra --json",
      shows: "the same for a script; exit status 1 where a check fails",
    },
  ],
  load: () => import("./smoke.ts"),
};
