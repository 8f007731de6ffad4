// The row of the command table that asks a ledger questions.
import { analysisNames } from "../../analytics/analysis-names.ts";
import type { Command } from "../command.ts";

export const statsCommands: readonly Command[] = [
  {
    name: "stats",
    summary: "Answer a question about what was sent, read from caches, spent, saved or lost",
    operands: [{ name: "NAME", meaning: `one of ${analysisNames.join(", ")}` }],
    options: {
      from: {
        value: "TIME",
        meaning:
          "the first moment: 2026-11-09, 2026-11-09T08:00Z, or so long ago: 24h, 30d; 7 days before the end by default",
      },
      to: { value: "TIME", meaning: "the first moment after it; now by default" },
      "group-by": {
        value: "WHAT",
        meaning:
          "what a row stands for: model, session, day …; a wrong one names those of the question",
      },
      order: {
        value: "FIGURE",
        meaning: "what comes first: a figure of the rows or group; with :asc the smallest first",
      },
      limit: { value: "N", meaning: "at most so many rows, 1 to 1000; 100 by default" },
      baseline: {
        value: "MODEL",
        meaning: "with savings: what the same tokens cost on this model",
      },
      turn: { value: "ID", meaning: "with turns: one turn, call by call" },
      models: {
        value: "FILE",
        meaning: "models to add or override, as JSON, instead of the configuration's",
      },
      store: {
        value: "WHERE",
        meaning:
          "the ledger: a file, or postgres://…; by default STRATA_STORE, else the configuration's, else ledger.db in the data directory",
      },
      json: { meaning: "print one JSON value for machines" },
    },
    examples: [
      {
        command: "strata stats cache_effectiveness",
        shows: "per model, how much of the prompts was read from the cache in the last 7 days",
      },
      {
        command: "strata stats cost --from 30d --group-by day",
        shows: "what each of the last 30 days cost, in UTC",
      },
      {
        command: "strata stats savings --baseline claude-opus-4-6 --group-by none --json",
        shows: "what the cache saved, and what the same tokens cost on another model, for a script",
      },
      { command: "strata stats turns --turn turn-7", shows: "one turn, call by call" },
    ],
    load: () => import("./stats.ts"),
  },
];
