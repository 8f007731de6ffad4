// The command table: everything `strata` can do, in the order help shows it.
import { json, type Command, type OptionSpec } from "./command.ts";
import { agentOptions, chatCommand } from "./chat/chat-command.ts";
import { configCommands } from "./config/config-commands.ts";
import { ledgerCommands, simulatedOption, store } from "./ledger/ledger-commands.ts";
import { mcpCommand } from "./mcp/mcp-command.ts";
import { memoryCommands } from "./memory/memory-commands.ts";
import { keysCommand, serveCommand } from "./serve/serve-command.ts";
import { hookCommand, setupCommand, statusLineCommand } from "./setup/setup-command.ts";
import { skillsCommands } from "./skills/skills-commands.ts";
import { smokeCommand } from "./smoke/smoke-command.ts";
import { statsCommands } from "./stats/stats-commands.ts";

const models: OptionSpec = { value: "FILE", meaning: "models to add or override, as JSON" };

export const commands: readonly Command[] = [
  chatCommand,
  smokeCommand,
  {
    name: "warm",
    summary: "Have the provider cache what an agent's next session begins with",
    options: {
      for: {
        value: "LIFETIME",
        meaning: "how long the provider should keep it, as 1h; default: its shortest lifetime",
      },
      resume: {
        value: "ID",
        meaning: "warm the conversation of this session; latest for the last one",
      },
      ...agentOptions,
      json,
    },
    examples: {
      "strata warm --for 1h": "what was written, what it cost, and until when it is warm",
      "strata warm --workspace ~/code/shop --agent coder --json":
        "the same for a script, before the first session of the day; exit status 1 if nothing is warm",
    },
    load: () => import("./warm/warm.ts"),
  },
  {
    name: "models list",
    alias: "models",
    summary: "List the models Strata knows, with prices and cache minimums",
    options: {
      provider: { value: "NAME", meaning: "only models of this provider" },
      all: { meaning: "include retired models" },
      models,
      json,
    },
    examples: {
      "strata models": "every model still in service",
      "strata models list --provider openai --json": "OpenAI models, for a script",
    },
    load: () => import("./models/models-list.ts"),
  },
  {
    name: "models show",
    summary: "Show one model: window, prices, cache rules, capabilities",
    operands: [{ name: "ID", meaning: "a model id, in any provider's spelling" }],
    options: { models, json },
    examples: {
      "strata models show claude-sonnet-5-5": "its prices and cache rules",
      "strata models show us.anthropic.claude-sonnet-4-5-20250929-v1:0 --json":
        "the same model under its Bedrock id, with Bedrock's cache rules",
    },
    load: () => import("./models/models-show.ts"),
  },
  {
    name: "replay",
    summary:
      "Show what recorded sessions cost, what they could have cost, and which policy is cheapest",
    operands: [
      {
        name: "PATH",
        meaning:
          "transcripts of Claude Code, Codex or pi, request logs, traces, exported sessions, or folders of them",
        count: "any",
      },
    ],
    options: {
      policy: { value: "NAMES", meaning: "policy names, comma-separated; default: all" },
      model: {
        value: "ID",
        meaning: "use the rules and prices of this model; default: the recorded model",
      },
      session: { value: "ID", meaning: "a session of the ledger, instead of files" },
      store: { ...store, meaning: `all sessions of ${store.meaning}` },
      "group-by": { value: "WHAT", meaning: "one of session, model, agent, day, none (default)" },
      html: { value: "FILE", meaning: "write one self-contained page with plots" },
      excerpts: { meaning: "also show a few words of the uncached text in the page" },
      jobs: {
        value: "N",
        meaning: "how many files to read at once, up to 64; default: 2, or 1 below 20 MB",
      },
      json,
    },
    examples: {
      "strata replay ~/.claude/projects": "what those sessions cost under every policy",
      "strata replay logs/ --policy adaptive,tail-5m --group-by day --json":
        "two policies day by day, for a script",
      "strata replay --store ledger.db": "what the sessions of Strata would cost under each policy",
    },
    load: () => import("./replay/replay.ts"),
  },
  {
    name: "explain",
    summary:
      "Explain why a request or a recorded session read less from the cache than it could have",
    operands: [
      {
        name: "BEFORE",
        meaning:
          "a transcript, an exported session, a folder of them, or the body of the earlier request as a JSON file",
        count: "optional",
      },
      {
        name: "AFTER",
        meaning: "the body of the later request; leave it out for a transcript",
        count: "optional",
      },
    ],
    options: {
      model: { value: "ID", meaning: "use this model instead of the one in the body" },
      gap: {
        value: "SECONDS",
        meaning: "time between the starts of the two requests; default: 30",
      },
      usage: {
        value: "READ,WRITTEN,UNCACHED",
        meaning: "tokens the provider reported for the later request",
      },
      session: { value: "ID", meaning: "a session of the ledger, instead of files" },
      store: { ...store, meaning: `all sessions of ${store.meaning}` },
      call: { value: "N", meaning: "show one call of a transcript in full; the first is 1" },
      excerpts: { meaning: "for a transcript: also show a few words of the uncached text" },
      models,
      json,
    },
    examples: {
      "strata explain a.json b.json --gap 600":
        "the cause, the first byte that differs, and what it cost",
      "strata explain session.jsonl --call 12 --excerpts":
        "why call 12 missed, in full, and the text where it happened",
      "strata explain --session build": "which calls of a session of Strata missed, and why",
    },
    load: () => import("./explain/explain.ts"),
  },
  {
    name: "lint",
    summary: "Find the parts of a request that will break caching",
    operands: [
      {
        name: "TARGET",
        meaning: "a request body, a folder of .json and .jsonl files, or - for standard input",
      },
    ],
    options: {
      model: { value: "ID", meaning: "use the rules of this model instead of the one in the body" },
      json,
    },
    examples: {
      "strata lint request.json": "each finding with advice; exit status 1 on an error",
      "strata lint body.json --model gemini-3.8-flash":
        "a body that names no model: the address did",
    },
    load: () => import("./lint.ts"),
  },
  serveCommand,
  keysCommand,
  setupCommand,
  {
    name: "sim",
    summary:
      "Run a local provider that bills like Anthropic, OpenAI, Gemini, the clouds and others, to test agents without a key",
    options: {
      port: { value: "N", meaning: "port to listen on; default: 4141; 0: any free port" },
      host: { value: "NAME", meaning: "a loopback name or address; default: 127.0.0.1" },
      model: { value: "NAME", meaning: "echo (default), agent, scripted or summariser" },
      script: {
        value: "FILE",
        meaning: "the replies of the scripted model: JSON, or a module that exports steps",
      },
      seed: { value: "N", meaning: "the same seed and requests give the same bytes" },
      latency: { value: "MS", meaning: "delay before a reply begins; default: 0" },
      billing: {
        value: "JSON",
        meaning:
          "billing rules that providers do not document; docs/simulator.md lists the options",
      },
      control: { meaning: "serve /_sim/: state, ledger, clock, faults, reset" },
      "virtual-clock": { meaning: "time moves only with POST /_sim/clock" },
      verbose: { meaning: "print one line per request: tokens, dollars, and why" },
      json: { meaning: 'print only one line, {"url": …}' },
    },
    examples: {
      "strata sim --model agent --verbose": "an agent loop and the cost of each call",
      "strata sim --port 0 --control --virtual-clock --json":
        "a simulator for a test, which moves its clock",
    },
    load: () => import("./sim/sim.ts"),
  },
  ...ledgerCommands,
  {
    name: "inspect",
    summary: "Show what one session cost, what was lost and why, and its cross-section as a page",
    operands: [
      { name: "SESSION", meaning: "the id of a session or of a conversation that the gateway saw" },
    ],
    options: {
      html: { value: "FILE", meaning: "write its cross-section as one self-contained page" },
      store,
      json: { meaning: "print every call of the cross-section as JSON" },
    },
    examples: {
      "strata inspect build": "one sentence, the breaks with advice, and what was carried longest",
      "strata inspect build --html build.html":
        "the same, and a page to look at, send and keep; it loads nothing",
      "strata inspect build --json": "every call with what it kept, added, read and paid",
    },
    load: () => import("./inspect/inspect.ts"),
  },
  {
    name: "trace",
    summary: "Show what happened in a session, event by event",
    operands: [{ name: "SESSION", meaning: "the id of a session, also of a sub-agent" }],
    options: {
      type: {
        value: "TYPES",
        meaning: "only these events, comma-separated: cache.miss, or tool for all of tools",
      },
      turn: { value: "ID", meaning: "only events of this turn" },
      simulated: simulatedOption,
      store,
      json: { meaning: "print each event as a line of JSON: the audit trail" },
    },
    examples: {
      "strata trace build": "calls, tools, misses and compactions of a session, in order",
      "strata trace build --type cache.miss,llm --turn turn-7":
        "the calls of one turn, and what they lost",
      "strata trace build --json": "the audit trail, for a script",
    },
    load: () => import("./trace/trace.ts"),
  },
  ...memoryCommands,
  ...skillsCommands,
  ...configCommands,
  ...statsCommands,
  mcpCommand,
  statusLineCommand,
  hookCommand,
  {
    name: "doctor",
    summary: "Check that this machine has what Strata needs",
    options: {
      "delete-strays": {
        meaning: "delete what providers still keep for sessions that do not run any more",
      },
      json,
    },
    examples: {
      "strata doctor": "each check, and how to fix a failed one",
      "strata doctor --delete-strays": "the same; stored prefixes that a crash left are deleted",
      "strata doctor --json": "the same for a script; exit status 8 on failure",
    },
    load: () => import("./doctor/doctor.ts"),
  },
];
