// The row of the command table for `strata chat`.
import type { Command, OptionSpec } from "../command.ts";

/** Which agent, where it works, and how it is configured. */
export const agentOptions: Readonly<Record<string, OptionSpec>> = {
  model: {
    value: "ID",
    meaning:
      "the model of a new session, or the new model of a resumed one; default: the configured model",
  },
  workspace: {
    value: "DIR",
    meaning:
      "where the agent works; default: this folder, or a temporary read-only one for a simulated model",
  },
  agent: {
    value: "NAME",
    meaning: "use the settings of this agent in strata.yaml; default: agent",
  },
  binding: {
    value: "NAME",
    meaning: "use this binding of the agent; default: the one its settings name",
  },
  config: {
    value: "FILE",
    meaning: "use this file instead of the strata.yaml files Strata finds",
  },
  store: {
    value: "WHERE",
    meaning:
      "the ledger: a file or postgres://…; default: STRATA_STORE, then the configuration, then ledger.db in the data directory (simulated.db for a simulated model)",
  },
};

export const chatCommand: Command = {
  name: "chat",
  summary: "Talk to an agent that works in a folder, and see what caching saves",
  options: {
    prompt: { value: "PROMPT", short: "p", meaning: "send this prompt, print the answer and exit" },
    resume: { value: "ID", meaning: "continue a session; latest for the last one" },
    ...agentOptions,
    cap: {
      value: "USD",
      meaning:
        "stop before the session costs more than this many dollars, with a warning at 80 %; default: spending.session_usd",
    },
    yes: { meaning: "run every tool without asking" },
    json: { meaning: "print events, one JSON value per line" },
  },
  examples: {
    "strata chat": "a conversation; the model is simulated if there is no key",
    "strata chat --model opus --cap 2": "a conversation that costs at most two dollars",
    "strata chat --resume latest": "continues the last session, from the cache",
    'strata chat -p "What does src/index.ts export?" --json': "one turn for a script",
  },
  load: () => import("./chat.ts"),
};
