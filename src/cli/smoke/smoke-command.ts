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
    store: {
      value: "PATH",
      meaning: "with --lifetimes: the ledger that keeps the trial; the configured one by default",
    },
    lifetimes: {
      meaning:
        "settle instead, with four calls in about six minutes, what lives how long where 5m and 1h are mixed; says first what it costs",
    },
    yes: { meaning: "with --lifetimes: do not ask before sending" },
    json: { meaning: "print the result as one JSON value" },
  },
  examples: {
    "strata smoke --model sonnet": "what two turns wrote, read and cost",
    "strata smoke --model gpt-6.1-terra --json":
      "the same for a script; exit status 1 if a check fails",
    "strata smoke --lifetimes --model haiku":
      "whether a small part for an hour keeps the whole prefix; later sessions and strata doctor know it",
  },
  load: () => import("./smoke.ts"),
};
