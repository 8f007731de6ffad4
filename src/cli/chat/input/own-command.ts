// `!command`: a command that the person runs in the workspace's folder. It is their act, so no tool setting holds for it; the agent gets
// its output with the next message.
import { runCommand, type CommandEnd } from "../../../edge/tools/bash/run-command.ts";
import { formatBytes } from "../../ledger/render-ledger.ts";
import type { Io } from "../../command.ts";

export interface OwnCommands {
  /** Runs it and returns what to show. */
  readonly run: (command: string, folder: string) => Promise<string>;
  readonly isRunning: () => boolean;
  readonly stop: () => void;
  /** What ran since the last message, for the agent; empty for nothing. */
  readonly takeOutput: () => string;
}

const timeoutMs = 600_000;
const shownBytesMax = 200_000;
/** A model reads less than a person can scroll. */
const toldCharactersMax = 30_000;

export function createOwnCommands(env: Io["env"]): OwnCommands {
  let running: AbortController | null = null;
  let told: string[] = [];
  return {
    isRunning: () => running !== null,
    stop: () => running?.abort(),
    run: async (command, folder) => {
      if (running !== null) return "Another command still runs; Ctrl-C stops it.";
      running = new AbortController();
      try {
        const end = await runCommand({
          command,
          folder,
          env: definedOf(env),
          timeoutMs,
          killMs: 2000,
          outputBytesMax: shownBytesMax,
          signal: running.signal,
        });
        const shown = describeEnd(end);
        told.push(`I ran this command in ${folder}:\n$ ${command}\n${shorten(shown)}`);
        return shown;
      } finally {
        running = null;
      }
    },
    takeOutput: () => {
      const all = told.join("\n\n");
      told = [];
      return all;
    },
  };
}

function definedOf(env: Io["env"]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function describeEnd({ how, status, signal, output, droppedBytes }: CommandEnd): string {
  const dropped =
    droppedBytes === 0 ? [] : [`(${formatBytes(droppedBytes)} in the middle are left out)`];
  const ended =
    how === "timed out"
      ? ["It was ended after ten minutes."]
      : how === "cancelled"
        ? ["It was stopped."]
        : signal !== null
          ? [`It was ended by ${signal}.`]
          : status === 0
            ? []
            : [`exit status ${status}`];
  const text = output.replace(/\n$/, "");
  return [...(text === "" ? [] : [text]), ...dropped, ...ended].join("\n") || "(no output)";
}

/** The beginning and the end. */
function shorten(text: string): string {
  if (text.length <= toldCharactersMax) return text;
  const half = toldCharactersMax / 2;
  const left = text.length - toldCharactersMax;
  return `${text.slice(0, half).toWellFormed()}\n… ${left} characters left out …\n${text.slice(-half).toWellFormed()}`;
}
