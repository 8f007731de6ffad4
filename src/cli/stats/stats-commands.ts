// The row of the command table that asks a ledger questions.
import { analysisNames } from "../../analytics/analysis-names.ts";
import type { Command } from "../command.ts";

export const statsCommands: readonly Command[] = [
  {
    name: "stats",
    summary: "Show figures from the ledger: cache reads, cost, savings, misses and more",
    operands: [{ name: "NAME", meaning: `one of ${analysisNames.join(", ")}` }],
    options: {
      from: {
        value: "TIME",
        meaning:
          "start: 2026-11-09, 2026-11-09T08:00Z, or an age such as 24h or 30d; default: 7 days before the end",
      },
      to: { value: "TIME", meaning: "end, not included; default: now" },
      "group-by": {
        value: "WHAT",
        meaning: "one row per model, session, day …; a wrong value lists the valid ones",
      },
      order: {
        value: "FIGURE",
        meaning: "sort by this figure or by group, largest first; add :asc for smallest first",
      },
      limit: {
        value: "N",
        meaning: "at most N rows, 1 to 1000; default: 100, and all days or hours",
      },
      points: {
        value: "N",
        meaning: "at most N days or hours, 1 to 2000; default: 2000",
      },
      baseline: {
        value: "MODEL",
        meaning: "with savings: compare with the same tokens on this model",
      },
      turn: { value: "ID", meaning: "with turns: show one turn, call by call" },
      models: {
        value: "FILE",
        meaning: "models to add or override, as JSON, instead of those in the configuration",
      },
      store: {
        value: "WHERE",
        meaning:
          "the ledger: a file or postgres://…; default: STRATA_STORE, then the configuration, then ledger.db in the data directory",
      },
      simulated: {
        meaning: "the ledger of simulated sessions, simulated.db in the data directory",
      },
      url: {
        value: "URL",
        meaning:
          "ask this running strata serve instead of a ledger; its token is taken from STRATA_GATEWAY_TOKEN",
      },
      json: { meaning: "print the result as one JSON value" },
    },
    examples: {
      "strata stats cache_effectiveness":
        "the share of prompts read from the cache, per model, in the last 7 days",
      "strata stats cost --from 30d --group-by day": "the cost of each of the last 30 days, in UTC",
      "strata stats savings --baseline claude-opus-4-6 --group-by none --json":
        "what the cache saved, and the cost of the same tokens on another model, for a script",
      "strata stats cost --url http://127.0.0.1:8787": "the same from a running gateway",
      "strata stats turns --turn turn-7": "one turn, call by call",
    },
    load: () => import("./stats.ts"),
  },
];
