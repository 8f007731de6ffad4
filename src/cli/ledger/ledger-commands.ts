// The rows of the command table that work on a ledger.
import { json, type Command, type Operand, type OptionSpec } from "../command.ts";

export const store: OptionSpec = {
  value: "WHERE",
  meaning:
    "the ledger: a file or postgres://…; default: STRATA_STORE, then the configuration, then ledger.db in the data directory",
};
/** Where `strata chat` keeps sessions if there is no key. */
export const simulatedOption: OptionSpec = {
  meaning: "the ledger of simulated sessions, simulated.db in the data directory",
};
const force: OptionSpec = { meaning: "overwrite an existing file" };
const session: Operand = { name: "ID", meaning: "the name of a session" };

const sessionCommands: readonly Command[] = [
  {
    name: "sessions list",
    alias: "sessions",
    summary: "List sessions, latest change first, with cost and whether one is running",
    options: {
      all: { meaning: "include archived sessions" },
      status: { value: "NAME", meaning: "active (default), archived or all" },
      agent: { value: "NAME", meaning: "only sessions of this agent" },
      gateway: {
        meaning: "conversations of other programs that strata serve saw, instead of sessions",
      },
      limit: { value: "N", meaning: "at most N sessions; default: 50" },
      simulated: simulatedOption,
      store,
      json,
    },
    examples: {
      "strata sessions": "the latest sessions",
      "strata sessions list --status archived --agent reviewer --json":
        "one agent's archived sessions, for a script; money is text in pico-dollars",
    },
    load: () => import("../sessions/sessions-list.ts"),
  },
  {
    name: "sessions show",
    summary:
      "Show one session: its turns with tokens, hit rate and cost, compactions, and the open turn",
    operands: [session],
    options: {
      all: { meaning: "show every turn, not only the latest 20" },
      messages: { meaning: "show the messages as the model gets them now; one line per tool call" },
      whole: { meaning: "with --messages: also show what compactions hide" },
      system: { meaning: "show the tools and the system text as they are sent, a block per line" },
      compaction: {
        value: "TURN",
        meaning: "show one compaction with its summary and index; latest for the last one",
      },
      simulated: simulatedOption,
      store,
      json,
    },
    examples: {
      "strata sessions show build-42": "its turns, and whether a process runs it",
      "strata sessions show build-42 --messages --whole": "all messages from the first turn on",
      "strata sessions show gift --system":
        "what an imported session would send, before it is activated",
      "strata sessions show build-42 --compaction latest":
        "what the model reads instead of the compacted turns",
    },
    load: () => import("../sessions/sessions-show.ts"),
  },
  {
    name: "sessions fork",
    summary: "Create a session that shares everything up to a turn and continues separately",
    operands: [session, { name: "NEW", meaning: "the name of the new session" }],
    options: {
      turn: { value: "TURN", meaning: "a completed turn; default: the last one" },
      store,
      json,
    },
    examples: {
      "strata sessions fork build-42 build-42-retry --turn turn-7":
        "a session that continues after turn-7",
    },
    load: () => import("../sessions/sessions-fork.ts"),
  },
  {
    name: "sessions export",
    summary: "Write a session and everything it needs as JSON lines, for import anywhere",
    operands: [session],
    options: {
      out: {
        value: "FILE",
        meaning: "write to this file, readable by its owner only; default: standard output",
      },
      force,
      store,
      json: { meaning: "with --out: print what was written as one JSON value" },
    },
    examples: {
      "strata sessions export build-42 --out build-42.jsonl": "a private file",
      "strata sessions export build-42 | strata sessions import - --trust --store postgres://strata@db/strata":
        "the same session on a server",
    },
    load: () => import("../sessions/sessions-export.ts"),
  },
  {
    name: "sessions import",
    summary: "Import an exported session",
    operands: [{ name: "FILE", meaning: "an export, or - for standard input" }],
    options: {
      as: { value: "NAME", meaning: "import under another name" },
      trust: {
        meaning: "the file is yours: keep its folder, tools and system text, byte for byte",
      },
      store,
      json,
    },
    examples: {
      "strata sessions import build-42.jsonl --as theirs":
        "a session of others, archived until accepted",
      "strata sessions import build-42.jsonl --trust": "a session of your own, ready to go on",
    },
    load: () => import("../sessions/sessions-import.ts"),
  },
  {
    name: "sessions archive",
    summary: "Archive a session: it is no longer listed and takes no turns",
    operands: [session],
    options: { store, json },
    examples: { "strata sessions archive build-42": "a confirmation" },
    load: async () => ({ run: (await import("../sessions/sessions-status.ts")).archive }),
  },
  {
    name: "sessions activate",
    summary: "Bring an archived session back",
    operands: [session],
    options: { store, json },
    examples: {
      "strata sessions activate build-42": "a confirmation; it takes turns again",
    },
    load: async () => ({ run: (await import("../sessions/sessions-status.ts")).activate }),
  },
  {
    name: "sessions abandon",
    summary: "Give up a turn that was left open, so that its session takes turns again",
    operands: [session],
    options: { store, json },
    examples: {
      "strata sessions abandon build-42": "the abandoned turn; its calls stay in the bill",
    },
    load: async () => ({ run: (await import("../sessions/sessions-status.ts")).abandon }),
  },
  {
    name: "sessions delete",
    summary: "Delete a session, everything only it uses, and the sessions of its sub-agents",
    operands: [session],
    options: {
      "with-forks": { meaning: "also delete sessions forked from it" },
      yes: { meaning: "do not ask" },
      store,
      json,
    },
    examples: {
      "strata sessions delete build-42": "asks first, on a terminal",
      "strata sessions delete build-42 --with-forks --yes --json": "what is gone, for a script",
    },
    load: () => import("../sessions/sessions-delete.ts"),
  },
];

const compact: Command = {
  name: "compact",
  summary:
    "Compact the older turns of a session into a summary and an index of exact names; shows the plan and asks first",
  operands: [{ name: "SESSION", meaning: "the name of a session that is not running" }],
  options: {
    "dry-run": { meaning: "only show the plan; change nothing and call no model" },
    focus: { value: "TEXT", meaning: "what the summary should focus on" },
    summarizer: {
      value: "MODEL",
      meaning: "the model that writes the summary; default: the configured one, then the session's",
    },
    "no-model": { meaning: "call no model: an outline replaces the compacted turns" },
    yes: { meaning: "do not ask" },
    models: { value: "FILE", meaning: "models to add or override, as JSON" },
    config: {
      value: "FILE",
      meaning: "use this file instead of the strata.yaml files Strata finds",
    },
    store,
    json,
  },
  examples: {
    "strata compact build-42 --dry-run":
      "what is compacted and kept, tokens and dollars per call, and the break-even",
    'strata compact build-42 --focus "the parser" --yes': "the plan, then the result",
    "strata compact build-42 --no-model --yes --json":
      "plan and compaction for a script, without a key",
  },
  load: () => import("../compact/compact.ts"),
};

const wholeCommands: readonly Command[] = [
  {
    name: "ledger check",
    summary: "Check a ledger for damage, and each message against its hash",
    options: {
      store,
      json,
      repair: {
        meaning: "first remove counts that cannot be true, correct sums, and drop unreadable state",
      },
    },
    examples: {
      "strata ledger check": "each problem; exit status 10 if there is one",
      "strata ledger check --repair": "what was changed, then what is left",
    },
    load: () => import("./ledger-check.ts"),
  },
  {
    name: "ledger backup",
    summary: "Copy a ledger at one moment, also while it is in use, and check the copy",
    operands: [
      {
        name: "FILE",
        meaning:
          "the copy: a SQLite file, or JSON lines if it ends with .jsonl or the ledger is on PostgreSQL",
      },
    ],
    options: { force, store, json },
    examples: {
      "strata ledger backup /backup/ledger.db": "a file that is a ledger itself",
      "strata ledger backup all.jsonl": "lines that SQLite and PostgreSQL can restore",
    },
    load: () => import("./ledger-backup.ts"),
  },
  {
    name: "ledger restore",
    summary:
      "Restore a JSON lines backup into an empty ledger, SQLite or PostgreSQL, all or nothing",
    operands: [
      { name: "FILE", meaning: "a backup by strata ledger backup, or - for standard input" },
    ],
    options: { store, json },
    examples: {
      "strata ledger restore all.jsonl --store postgres://strata@db/strata":
        "a whole ledger moved to a server",
    },
    load: () => import("./ledger-restore.ts"),
  },
  {
    name: "ledger migrate",
    summary: "Create a ledger, or update it to the schema of this version",
    options: {
      "dry-run": { meaning: "only list the steps" },
      store,
      json,
    },
    examples: {
      "strata ledger migrate --dry-run": "the steps of an update",
      "strata ledger migrate --store postgres://strata@db/strata":
        "creates the tables before the first program uses them",
    },
    load: () => import("./ledger-migrate.ts"),
  },
  {
    name: "ledger stats",
    summary: "Show the size of a ledger, its cost, and its time span",
    options: { store, json },
    examples: { "strata ledger stats": "size, dollars, and rows per table" },
    load: () => import("./ledger-stats.ts"),
  },
  {
    name: "ledger sweep",
    summary: "Remove old events; audit events, turns and calls stay",
    options: {
      "older-than": { value: "AGE", meaning: "for example 90d, 12w, 48h or 30m" },
      store,
      json,
    },
    examples: {
      "strata ledger sweep --older-than 90d": "how many events were removed",
    },
    load: () => import("./ledger-sweep.ts"),
  },
  {
    name: "ledger export",
    summary: "Write the calls of a window as lines for a warehouse, without content",
    options: {
      format: { value: "NAME", meaning: "ndjson (default), csv, or parquet with --out" },
      from: {
        value: "TIME",
        meaning: "start, or an age such as 30d; default: 7 days before the end",
      },
      to: { value: "TIME", meaning: "end, not included; default: now" },
      out: {
        value: "FILE",
        meaning: "write to this file, readable by its owner only; default: standard output",
      },
      force,
      store,
      json: { meaning: "with --out: print what was written as one JSON value" },
    },
    examples: {
      "strata ledger export --from 1d --out calls.ndjson":
        "the calls of the last day, one per line",
      "strata ledger export --format csv --from 2026-11-01 --to 2026-12-01 > calls.csv":
        "a month of calls with a line of column names",
    },
    load: () => import("./ledger-export.ts"),
  },
  {
    name: "ledger reprice",
    summary: "Price recorded calls again, after a price was corrected",
    options: {
      from: { value: "TIME", meaning: "the first time whose prices were wrong, or an age" },
      to: { value: "TIME", meaning: "end, not included; default: now" },
      model: { value: "MODEL", meaning: "only calls of this model" },
      models: {
        value: "FILE",
        meaning: "models to add or override, as JSON, instead of those in the configuration",
      },
      "dry-run": { meaning: "only say what would change" },
      store,
      json,
    },
    examples: {
      "strata ledger reprice --from 2026-11-01 --dry-run": "what corrected prices would change",
      "strata ledger reprice --from 30d --model claude-opus-4-6":
        "the calls of one model at its corrected price",
    },
    load: () => import("./ledger-reprice.ts"),
  },
  {
    name: "ledger catch-up",
    summary: "Store the sums of hours that are over, so that questions need not read every call",
    options: { store, json },
    examples: {
      "strata ledger catch-up":
        "how many hours were summed; strata serve and strata stats do it, too",
    },
    load: () => import("./ledger-catch-up.ts"),
  },
];

export const ledgerCommands: readonly Command[] = [...sessionCommands, compact, ...wholeCommands];
