// The rows of the command table that make a client talk to the gateway, and answer what the client then asks.
import { json, type Command } from "../command.ts";
import { store } from "../ledger/ledger-commands.ts";

const config = {
  value: "FILE",
  meaning: "the configuration that says where the ledger is",
} as const;

export const setupCommand: Command = {
  name: "setup",
  summary:
    "Set a client up for the gateway: shown before it is written, and undone to the last byte",
  operands: [{ name: "CLIENT", meaning: "claude, codex, gemini-cli, letta, opencode or pi" }],
  options: {
    url: {
      value: "URL",
      meaning: "where strata serve listens; default: http://127.0.0.1:8787",
    },
    undo: { meaning: "give back what was there before, byte for byte" },
    "dry-run": { meaning: "only show what would be written" },
    yes: { meaning: "write without asking" },
    json,
  },
  examples: {
    "strata setup claude":
      "Claude Code: base URL, status line, and a plugin with hooks, commands and strata mcp",
    "strata setup codex --url http://127.0.0.1:9000 --yes": "Codex, at another port, for a script",
    "strata setup claude --undo": "its settings as they were",
  },
  load: () => import("./setup.ts"),
};

export const statusLineCommand: Command = {
  name: "statusline",
  summary:
    "Print a status line for Claude Code: cost, share read from the cache, until when it is warm, and the last miss",
  options: { store, config },
  examples: {
    "strata statusline": "one line, from the session that Claude Code gives on standard input",
  },
  load: () => import("../statusline/statusline.ts"),
};

export const hookCommand: Command = {
  name: "hook",
  summary:
    "Answer a hook of Claude Code: what a switch of the model will cost, and a compaction into the ledger",
  options: { store, config },
  examples: {
    "strata hook": "the answer, from what Claude Code gives on standard input",
  },
  load: () => import("../statusline/hook.ts"),
};
