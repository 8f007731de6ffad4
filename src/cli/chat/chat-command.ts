// The row of the command table for `strata chat`.
import type { Command } from "../command.ts";

export const chatCommand: Command = {
  name: "chat",
  summary: "Talk to an agent that works in a folder, and see what caching saves",
  operands: [],
  options: {
    prompt: { value: "PROMPT", short: "p", meaning: "say this, print the answer, and end" },
    resume: { value: "ID", meaning: "go on with a session, or with the latest one" },
    model: {
      value: "ID",
      meaning:
        "of a new session, or what a resumed one goes on with; what is configured by default",
    },
    workspace: {
      value: "DIR",
      meaning:
        "where it works; this folder by default, a temporary one for a simulated model, which may only look there",
    },
    agent: { value: "NAME", meaning: "whose settings of strata.yaml hold; agent by default" },
    config: { value: "FILE", meaning: "instead of the strata.yaml that is found" },
    store: {
      value: "WHERE",
      meaning:
        "the ledger: a file, or postgres://…; by default STRATA_STORE, else the configuration's, else ledger.db in the data directory, simulated.db beside it for a simulated model",
    },
    yes: { meaning: "run every tool without asking" },
    json: { meaning: "print events, one JSON value per line" },
  },
  examples: [
    { command: "strata chat", shows: "a conversation; without a key, with a simulated model" },
    { command: "strata chat --resume latest", shows: "the last one again, from the cache" },
    {
      command: 'strata chat -p "What does src/index.ts export?" --json',
      shows: "one turn for a script",
    },
  ],
  load: () => import("./chat.ts"),
};
