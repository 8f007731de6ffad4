// The row of the command table that serves figures, history and memory to MCP clients.
import type { Command } from "../command.ts";
import { store } from "../ledger/ledger-commands.ts";

export const mcpCommand: Command = {
  name: "mcp",
  summary:
    "Answer MCP clients on standard input and output: cost, misses, context, and old history",
  options: {
    store,
    config: { value: "FILE", meaning: "the configuration that says where the ledger is" },
    url: {
      value: "URL",
      meaning:
        "ask this running strata serve instead of a ledger, without history tools; its token is taken from STRATA_GATEWAY_TOKEN",
    },
    memory: { meaning: "also offer tools that read and change the memory of a workspace" },
    workspace: {
      value: "DIR",
      meaning: "with --memory: the folder that has it; default: this one",
    },
  },
  examples: {
    "strata mcp": "five tools that read the ledger; it ends when its input ends",
    "strata mcp --url http://127.0.0.1:8787": "the figures of a running gateway",
    "strata mcp --memory --workspace ~/code/shop": "with the memory of that folder",
  },
  load: () => import("./mcp.ts"),
};
