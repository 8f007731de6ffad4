// The rows of the command table that work on a ledger.
import type { Command, Operand, OptionSpec } from "../command.ts";

const json: OptionSpec = { meaning: "print one JSON value for machines" };
const store: OptionSpec = {
  value: "WHERE",
  meaning:
    "the ledger: a file, or postgres://…; by default STRATA_STORE, else the configuration's, else ledger.db in the data directory",
};
const force: OptionSpec = { meaning: "replace a file that is there" };
const session: Operand = { name: "ID", meaning: "the name of a session" };

const sessionCommands: readonly Command[] = [
  {
    name: "sessions list",
    alias: "sessions",
    summary: "List sessions, the latest changed first, with what they cost and whether one runs",
    operands: [],
    options: {
      all: { meaning: "archived ones too" },
      status: { value: "NAME", meaning: "active (default), archived or all" },
      agent: { value: "NAME", meaning: "only sessions of this agent" },
      limit: { value: "N", meaning: "at most so many; 50 by default" },
      store,
      json,
    },
    examples: [
      { command: "strata sessions", shows: "the latest sessions" },
      {
        command: "strata sessions list --status archived --agent reviewer --json",
        shows: "one agent's archived sessions, for a script; money in pico-dollars, as text",
      },
    ],
    load: () => import("../sessions/sessions-list.ts"),
  },
  {
    name: "sessions show",
    summary: "Show one session: its turns with tokens, hit rate and cost, its folds, what is open",
    operands: [session],
    options: {
      all: { meaning: "every turn, not only the latest 20" },
      messages: { meaning: "what was said instead, as it is sent now; tools in one line each" },
      whole: { meaning: "with --messages: also what folds hide" },
      compaction: {
        value: "TURN",
        meaning: "one fold instead, with its summary and its index; latest for the last one",
      },
      store,
      json,
    },
    examples: [
      {
        command: "strata sessions show build-42",
        shows: "its turns, and whether somebody runs it",
      },
      {
        command: "strata sessions show build-42 --messages --whole",
        shows: "everything that was said, from the first turn on",
      },
      {
        command: "strata sessions show build-42 --fold latest",
        shows: "what the model is told instead of the folded turns",
      },
    ],
    load: () => import("../sessions/sessions-show.ts"),
  },
  {
    name: "sessions fork",
    summary:
      "Make another session that shares everything up to a turn and goes its own way from there",
    operands: [session, { name: "NEW", meaning: "the name of the new session" }],
    options: {
      turn: { value: "TURN", meaning: "a completed turn; the last one by default" },
      store,
      json,
    },
    examples: [
      {
        command: "strata sessions fork build-42 build-42-retry --turn turn-7",
        shows: "a session that goes on after turn-7",
      },
    ],
    load: () => import("../sessions/sessions-fork.ts"),
  },
  {
    name: "sessions export",
    summary: "Write a session with all it stands on as JSON lines, to be imported anywhere",
    operands: [session],
    options: {
      out: { value: "FILE", meaning: "where to; only its owner can read it. Printed by default" },
      force,
      store,
      json: { meaning: "with --out: say what was written as one JSON value" },
    },
    examples: [
      { command: "strata sessions export build-42 --out build-42.jsonl", shows: "a private file" },
      {
        command:
          "strata sessions export build-42 | strata sessions import - --store postgres://strata@db/strata",
        shows: "the same session on a server",
      },
    ],
    load: () => import("../sessions/sessions-export.ts"),
  },
  {
    name: "sessions import",
    summary: "Take in what an export wrote, byte for byte",
    operands: [{ name: "FILE", meaning: "an export, or - for standard input" }],
    options: {
      as: { value: "NAME", meaning: "under another name" },
      store,
      json,
    },
    examples: [
      {
        command: "strata sessions import build-42.jsonl --as build-42-copy",
        shows: "the session under another name",
      },
    ],
    load: () => import("../sessions/sessions-import.ts"),
  },
  {
    name: "sessions archive",
    summary: "Put a session away: it is not listed and takes no turns",
    operands: [session],
    options: { store, json },
    examples: [{ command: "strata sessions archive build-42", shows: "that it is put away" }],
    load: () => import("../sessions/sessions-archive.ts"),
  },
  {
    name: "sessions activate",
    summary: "Bring an archived session back",
    operands: [session],
    options: { store, json },
    examples: [
      { command: "strata sessions activate build-42", shows: "that it takes turns again" },
    ],
    load: () => import("../sessions/sessions-activate.ts"),
  },
  {
    name: "sessions abandon",
    summary: "Give up a turn that nobody closed, so that its session takes turns again",
    operands: [session],
    options: { store, json },
    examples: [
      {
        command: "strata sessions abandon build-42",
        shows: "the turn that was given up; its calls stay in the bill",
      },
    ],
    load: () => import("../sessions/sessions-abandon.ts"),
  },
  {
    name: "sessions delete",
    summary: "Delete a session with everything only it stands on, and the sessions it asked for",
    operands: [session],
    options: {
      "with-forks": { meaning: "sessions forked from it, too" },
      yes: { meaning: "do not ask" },
      store,
      json,
    },
    examples: [
      { command: "strata sessions delete build-42", shows: "a question first, on a terminal" },
      {
        command: "strata sessions delete build-42 --with-forks --yes --json",
        shows: "what is gone, for a script",
      },
    ],
    load: () => import("../sessions/sessions-delete.ts"),
  },
];

const compact: Command = {
  name: "compact",
  summary:
    "Fold the older turns of a session into a summary and an index of exact names: first the plan, then a question",
  operands: [{ name: "SESSION", meaning: "the name of a session that nobody runs" }],
  options: {
    "dry-run": { meaning: "only the plan; nothing is changed and no model is asked" },
    focus: { value: "TEXT", meaning: "what the summary should dwell on" },
    summarizer: {
      value: "MODEL",
      meaning: "who writes the summary; the session's own model by default",
    },
    "no-model": { meaning: "ask no model: an outline stands for what is folded" },
    yes: { meaning: "do not ask" },
    models: { value: "FILE", meaning: "models to add or override, as JSON" },
    store,
    json,
  },
  examples: [
    {
      command: "strata compact build-42 --dry-run",
      shows: "what folds, what stays, tokens and dollars per call, and when it has paid",
    },
    {
      command: 'strata compact build-42 --focus "the parser" --yes',
      shows: "the plan, then what came of it",
    },
    {
      command: "strata compact build-42 --no-model --yes --json",
      shows: "plan and fold for a script, without a key",
    },
  ],
  load: () => import("../compact/compact.ts"),
};

const wholeCommands: readonly Command[] = [
  {
    name: "ledger check",
    summary: "Look for everything in a ledger that does not hold, each message against its hash",
    operands: [],
    options: { store, json },
    examples: [
      { command: "strata ledger check", shows: "each problem; exit status 10 where there is one" },
    ],
    load: () => import("./ledger-check.ts"),
  },
  {
    name: "ledger backup",
    summary: "Copy a ledger as of one moment while others use it, and check the copy",
    operands: [
      {
        name: "FILE",
        meaning:
          "a SQLite file; JSON lines where it ends with .jsonl or the ledger is on PostgreSQL",
      },
    ],
    options: { force, store, json },
    examples: [
      {
        command: "strata ledger backup /backup/ledger.db",
        shows: "a file that is itself a ledger",
      },
      {
        command: "strata ledger backup all.jsonl",
        shows: "lines that can be restored on either kind of store",
      },
    ],
    load: () => import("./ledger-backup.ts"),
  },
  {
    name: "ledger restore",
    summary: "Put a backup of JSON lines into an empty ledger of either kind, all of it or nothing",
    operands: [{ name: "FILE", meaning: "what ledger backup wrote, or - for standard input" }],
    options: { store, json },
    examples: [
      {
        command: "strata ledger restore all.jsonl --store postgres://strata@db/strata",
        shows: "a whole ledger moved to a server",
      },
    ],
    load: () => import("./ledger-restore.ts"),
  },
  {
    name: "ledger migrate",
    summary: "Make a ledger, or bring it to this program's schema, as opening it would",
    operands: [],
    options: {
      "dry-run": { meaning: "only say which steps are to come" },
      store,
      json,
    },
    examples: [
      { command: "strata ledger migrate --dry-run", shows: "the steps an update would make" },
      {
        command: "strata ledger migrate --store postgres://strata@db/strata",
        shows: "the tables made, before the first program uses them",
      },
    ],
    load: () => import("./ledger-migrate.ts"),
  },
  {
    name: "ledger stats",
    summary: "Say how much a ledger holds, what it cost, and since when",
    operands: [],
    options: { store, json },
    examples: [{ command: "strata ledger stats", shows: "size, dollars, and rows per table" }],
    load: () => import("./ledger-stats.ts"),
  },
  {
    name: "ledger sweep",
    summary: "Remove old events, except those kept for audits; turns and calls stay",
    operands: [],
    options: {
      "older-than": { value: "AGE", meaning: "as 90d, 12w, 48h or 30m" },
      store,
      json,
    },
    examples: [
      { command: "strata ledger sweep --older-than 90d", shows: "how many events were removed" },
    ],
    load: () => import("./ledger-sweep.ts"),
  },
];

export const ledgerCommands: readonly Command[] = [...sessionCommands, compact, ...wholeCommands];
