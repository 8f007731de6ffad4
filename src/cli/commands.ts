// The command table: everything `strata` can do, in the order help shows it.
import type { Command, OptionSpec } from "./command.ts";
import { chatCommand } from "./chat/chat-command.ts";
import { configCommands } from "./config/config-commands.ts";
import { ledgerCommands } from "./ledger/ledger-commands.ts";
import { memoryCommands } from "./memory/memory-commands.ts";
import { skillsCommands } from "./skills/skills-commands.ts";
import { smokeCommand } from "./smoke/smoke-command.ts";
import { statsCommands } from "./stats/stats-commands.ts";

const json: OptionSpec = { meaning: "print one JSON value for machines" };
const models: OptionSpec = { value: "FILE", meaning: "models to add or override, as JSON" };

export const commands: readonly Command[] = [
  chatCommand,
  smokeCommand,
  {
    name: "models list",
    alias: "models",
    summary: "List the models Strata has facts about, with prices and cache minimums",
    operands: [],
    options: {
      provider: { value: "NAME", meaning: "only models of this provider" },
      all: { meaning: "retired models too" },
      models,
      json,
    },
    examples: [
      { command: "strata models", shows: "every model still in service" },
      { command: "strata models list --provider openai --json", shows: "OpenAI's, for a script" },
    ],
    load: () => import("./models/models-list.ts"),
  },
  {
    name: "models show",
    summary: "Show what is known about one model: window, prices, cache rules, capabilities",
    operands: [{ name: "ID", meaning: "a model id, in any provider's spelling" }],
    options: { models, json },
    examples: [
      { command: "strata models show claude-sonnet-5-5", shows: "its prices and cache rules" },
      {
        command: "strata models show us.anthropic.claude-sonnet-4-5-20250929-v1:0 --json",
        shows: "the same model as Bedrock spells it, with Bedrock's cache rules",
      },
    ],
    load: () => import("./models/models-show.ts"),
  },
  {
    name: "replay",
    summary:
      "Say what recorded sessions cost, what they could have cost, and which policy is best for them",
    operands: [
      {
        name: "PATH",
        meaning:
          "transcripts of Claude Code, Codex or pi, request logs, traces, or folders of them",
        count: "several",
      },
    ],
    options: {
      policy: { value: "NAMES", meaning: "policies with commas between them; all by default" },
      model: { value: "ID", meaning: "whose rules and prices; the recorded model's by default" },
      "group-by": { value: "WHAT", meaning: "session, model, agent, day or none (default)" },
      html: { value: "FILE", meaning: "write one self-contained page with plots" },
      excerpts: { meaning: "show in the page a few words of what was not read; without it, none" },
      json,
    },
    examples: [
      {
        command: "strata replay ~/.claude/projects",
        shows: "what those sessions cost under every policy",
      },
      {
        command: "strata replay logs/ --policy adaptive,tail-5m --group-by day --json",
        shows: "two policies day by day, for a script",
      },
    ],
    load: () => import("./replay/replay.ts"),
  },
  {
    name: "explain",
    summary:
      "Explain why a request, or the calls of a recorded session, read less from the cache than they could have",
    operands: [
      {
        name: "BEFORE",
        meaning:
          "a transcript or a folder of them; or the body of the earlier request, a JSON file",
      },
      {
        name: "AFTER",
        meaning: "body of the later request; absent for a transcript",
        count: "optional",
      },
    ],
    options: {
      model: { value: "ID", meaning: "instead of the model the body names" },
      gap: { value: "SECONDS", meaning: "from start to start; 30 by default" },
      usage: {
        value: "READ,WRITTEN,UNCACHED",
        meaning: "tokens the provider reported for the later one",
      },
      call: { value: "N", meaning: "one call of a transcript in full, counted from 1" },
      excerpts: { meaning: "of a transcript, a few words of what was not read; without it, none" },
      models,
      json,
    },
    examples: [
      {
        command: "strata explain a.json b.json --gap 600",
        shows: "the cause, the first byte that differs, and what it cost",
      },
      {
        command: "strata explain session.jsonl --call 12 --excerpts",
        shows: "why that call missed, in full, and the words it happened at",
      },
    ],
    load: () => import("./explain/explain.ts"),
  },
  {
    name: "lint",
    summary: "Find what in a request will break caching",
    operands: [
      {
        name: "TARGET",
        meaning: "a request body, a folder of .json and .jsonl, or - for standard input",
      },
    ],
    options: { json },
    examples: [
      {
        command: "strata lint request.json",
        shows: "each finding with advice; exit status 1 on an error",
      },
    ],
    load: () => import("./lint.ts"),
  },
  {
    name: "sim",
    summary:
      "Run a provider on this machine that bills like Anthropic and OpenAI, to test agents without a key",
    operands: [],
    options: {
      port: { value: "N", meaning: "where to listen; 4141 by default, 0 for any free port" },
      host: { value: "NAME", meaning: "a loopback name or address; 127.0.0.1 by default" },
      model: { value: "NAME", meaning: "echo (default), agent, scripted or summariser" },
      script: {
        value: "FILE",
        meaning: "what the scripted model says: JSON, or a module with steps",
      },
      seed: { value: "N", meaning: "same seed, same requests, same bytes" },
      latency: { value: "MS", meaning: "how long replies take to begin; none by default" },
      billing: {
        value: "JSON",
        meaning: "how to read what providers leave open; docs/simulator.md lists the options",
      },
      control: { meaning: "answer on /_sim/: state, ledger, clock, faults, reset" },
      "virtual-clock": { meaning: "time passes only when POST /_sim/clock says so" },
      verbose: { meaning: "one line per request: tokens, dollars, and why" },
      json: { meaning: 'print one line, {"url": …}, and nothing more' },
    },
    examples: [
      {
        command: "strata sim --model agent --verbose",
        shows: "an agent's loop, and what each call costs",
      },
      {
        command: "strata sim --port 0 --control --virtual-clock --json",
        shows: "for a test that starts it and moves its clock",
      },
    ],
    load: () => import("./sim.ts"),
  },
  ...ledgerCommands,
  ...memoryCommands,
  ...skillsCommands,
  ...configCommands,
  ...statsCommands,
  {
    name: "doctor",
    summary: "Check that this machine has what Strata needs",
    operands: [],
    options: { json },
    examples: [
      { command: "strata doctor", shows: "each check, and what to do where one fails" },
      { command: "strata doctor --json", shows: "the same for a script; exit status 8 on failure" },
    ],
    load: () => import("./doctor/doctor.ts"),
  },
];
