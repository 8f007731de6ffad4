// The rows of the command table that work on a workspace's memory.
import { json, type Command, type Operand, type OptionSpec } from "../command.ts";

const workspace: OptionSpec = {
  value: "DIR",
  meaning: "use the memory of this folder; default: the current folder",
};
const file: Operand = { name: "FILE", meaning: "MEMORY.md or USER.md" };

export const memoryCommands: readonly Command[] = [
  {
    name: "memory show",
    alias: "memory",
    summary:
      "Show what an agent remembers about a workspace and its user, and how much space is left",
    operands: [{ ...file, meaning: "only MEMORY.md or USER.md", count: "optional" }],
    options: { workspace, json },
    examples: {
      "strata memory": "both files, with bytes, caps and warnings",
      "strata memory show USER.md --json": "one file with its hash, for a script",
    },
    load: () => import("./memory-show.ts"),
  },
  {
    name: "memory add",
    summary: "Append an entry to a memory file; safe while others write",
    operands: [file, { name: "ENTRY", meaning: "what to remember" }],
    options: { workspace, json },
    examples: {
      'strata memory add USER.md "Prefers short answers."': "the new size",
    },
    load: async () => ({ run: (await import("./memory-write.ts")).add }),
  },
  {
    name: "memory replace",
    summary: "Replace a text that occurs once in a memory file",
    operands: [
      file,
      { name: "OLD", meaning: "a text that occurs exactly once" },
      { name: "NEW", meaning: "the new text; empty to remove OLD" },
    ],
    options: { workspace, json },
    examples: {
      'strata memory replace MEMORY.md "port 80" "port 8080"': "the new size",
    },
    load: async () => ({ run: (await import("./memory-write.ts")).replace }),
  },
  {
    name: "memory consolidate",
    summary: "Replace the whole text of a memory file",
    operands: [file, { name: "TEXT", meaning: "the new text, or - for standard input" }],
    options: {
      "if-hash": {
        value: "HASH",
        meaning: "only if the file still has this hash; memory show --json prints it",
      },
      yes: { meaning: "do not ask when more than half would be removed" },
      workspace,
      json,
    },
    examples: {
      "strata memory consolidate MEMORY.md - < shorter.md": "bytes before and after",
    },
    load: () => import("./memory-consolidate.ts"),
  },
  {
    name: "memory undo",
    summary: "Undo the last change of a memory file, or go back to a kept version",
    operands: [file],
    options: {
      to: {
        value: "N",
        meaning: "go back to the text before change N; memory log shows the numbers",
      },
      workspace,
      json,
    },
    examples: {
      "strata memory undo MEMORY.md": "the change that was undone",
      "strata memory undo MEMORY.md --to 12":
        "the version before change 12; the current one is kept too",
    },
    load: () => import("./memory-undo.ts"),
  },
  {
    name: "memory log",
    summary: "List the kept changes of both memory files, oldest first",
    operands: [{ ...file, meaning: "only MEMORY.md or USER.md", count: "optional" }],
    options: { workspace, json },
    examples: {
      "strata memory log": "time, file, change and bytes",
      "strata memory log --json": "the same with the texts that were replaced",
    },
    load: () => import("./memory-log.ts"),
  },
  {
    name: "memory migrate",
    summary: "Move memory from .metis to .strata, with its journal",
    options: { workspace, json },
    examples: { "strata memory migrate": "what was moved, and what stayed" },
    load: () => import("./memory-migrate.ts"),
  },
];
