// The row of the command table for `strata smoke`.
import type { Command } from "../command.ts";

export const smokeCommand: Command = {
  name: "smoke",
  summary:
    "Check with two turns that a provider writes to its cache, then reads from it and bills so",
  options: {
    model: {
      value: "ID",
      meaning: "haiku (default), sonnet, opus or any id; simulated if there is no key",
    },
    config: {
      value: "FILE",
      meaning: "use this file instead of your own strata.yaml; the current folder's is never read",
    },
    json: { meaning: "print the result as one JSON value" },
  },
  examples: {
    "strata smoke --model sonnet": "what two turns wrote, read and cost",
    "strata smoke --model gpt-6.1-terra --json":
      "the same for a script; exit status 1 if a check fails",
  },
  load: () => import("./smoke.ts"),
};
