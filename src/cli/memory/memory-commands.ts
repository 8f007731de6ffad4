// The rows of the command table that work on a workspace's memory.
import type { Command, Operand, OptionSpec } from "../command.ts";

const json: OptionSpec = { meaning: "print one JSON value for machines" };
const workspace: OptionSpec = {
  value: "DIR",
  meaning: "whose memory; the folder one is in by default",
};
const file: Operand = { name: "FILE", meaning: "MEMORY.md or USER.md" };

export const memoryCommands: readonly Command[] = [
  {
    name: "memory show",
    alias: "memory",
    summary: "Show what an agent remembers of a workspace and its user, and how much room is left",
    operands: [{ ...file, meaning: "only MEMORY.md or USER.md", count: "optional" }],
    options: { workspace, json },
    examples: [
      { command: "strata memory", shows: "both files, with bytes, caps and warnings" },
      {
        command: "strata memory show USER.md --json",
        shows: "one file with its hash, for a script",
      },
    ],
    load: () => import("./memory-show.ts"),
  },
  {
    name: "memory add",
    summary: "Append an entry to a memory file, whoever else is writing",
    operands: [file, { name: "ENTRY", meaning: "what to remember" }],
    options: { workspace, json },
    examples: [
      { command: 'strata memory add USER.md "Prefers short answers."', shows: "its size then" },
    ],
    load: () => import("./memory-add.ts"),
  },
  {
    name: "memory replace",
    summary: "Replace a text that occurs once in a memory file",
    operands: [
      file,
      { name: "OLD", meaning: "a text that occurs exactly once" },
      { name: "NEW", meaning: "what stands there then; empty to remove it" },
    ],
    options: { workspace, json },
    examples: [
      {
        command: 'strata memory replace MEMORY.md "port 80" "port 8080"',
        shows: "its size then",
      },
    ],
    load: () => import("./memory-replace.ts"),
  },
  {
    name: "memory consolidate",
    summary: "Rewrite a memory file as a whole",
    operands: [file, { name: "TEXT", meaning: "the new text, or - for standard input" }],
    options: {
      "if-hash": {
        value: "HASH",
        meaning: "only if the file still has this hash, as memory show --json says it",
      },
      yes: { meaning: "do not ask when more than half would be gone" },
      workspace,
      json,
    },
    examples: [
      {
        command: "strata memory consolidate MEMORY.md - < shorter.md",
        shows: "bytes before and after",
      },
    ],
    load: () => import("./memory-consolidate.ts"),
  },
  {
    name: "memory undo",
    summary: "Take back the last change of a memory file, or go back to a kept version",
    operands: [file],
    options: {
      to: { value: "N", meaning: "to what was there before change N, as memory log counts them" },
      workspace,
      json,
    },
    examples: [
      { command: "strata memory undo MEMORY.md", shows: "which change was taken back" },
      {
        command: "strata memory undo MEMORY.md --to 12",
        shows: "the version before change 12; what is there now is kept, too",
      },
    ],
    load: () => import("./memory-undo.ts"),
  },
  {
    name: "memory log",
    summary: "List the kept changes of both memory files, the oldest first",
    operands: [{ ...file, meaning: "only MEMORY.md or USER.md", count: "optional" }],
    options: { workspace, json },
    examples: [
      { command: "strata memory log", shows: "when, which file, what was done, bytes" },
      { command: "strata memory log --json", shows: "the same with the texts that were replaced" },
    ],
    load: () => import("./memory-log.ts"),
  },
  {
    name: "memory migrate",
    summary: "Move memory from .metis to .strata, with its journal",
    operands: [],
    options: { workspace, json },
    examples: [{ command: "strata memory migrate", shows: "what was moved, and what stays" }],
    load: () => import("./memory-migrate.ts"),
  },
];
