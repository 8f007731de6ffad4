// strata chat: an agent at the terminal, or in a script.
import { createInterface } from "node:readline";
import { StrataError } from "../../core/strata-error.ts";
import type { CommandBody, CommandInput, Io } from "../command.ts";
import { isPiped, readPiped } from "./piped-input.ts";
import { openChat } from "./open-chat.ts";
import { runChat, type ChatDeps, type ChatOptions } from "./run-chat.ts";

export const run: CommandBody = async (input, io) => {
  const options = await withPiped(readOptions(input), io);
  const isDrawn = options.prompt === null && !options.isJson && canDraw(io);
  const terminal = isDrawn ? { input: process.stdin, output: process.stdout } : null;
  const asked = terminal === null ? "refuse" : "ask";
  const permission = input.switches.has("yes") ? "allow" : asked;
  const deps: ChatDeps = {
    open: (asks) => openChat(input, io, permission, asks),
    permission,
    terminal,
    lines: readLines(),
    colours: process.stdout.isTTY && process.stdout.hasColors(16, { ...io.env }),
  };
  try {
    return await runChat(options, deps, io);
  } finally {
    // A pending read would keep the process alive.
    process.stdin.destroy();
  }
};

function readOptions({ values, switches }: CommandInput): ChatOptions {
  const prompt = values.get("prompt") ?? null;
  if (prompt !== null && prompt.trim() === "") {
    throw new StrataError("usage", "the prompt is empty", "give one: strata chat -p PROMPT");
  }
  return { prompt, isJson: switches.has("json"), model: values.get("model") ?? null };
}

/** Piped input is part of the prompt. */
async function withPiped(asked: ChatOptions, io: Io): Promise<ChatOptions> {
  if (asked.prompt === null || !isPiped(0)) return asked;
  const piped = await readPiped(process.stdin, (text) => io.error(`${text}\n`));
  return piped === null ? asked : { ...asked, prompt: `${asked.prompt}\n\n${piped}` };
}

function canDraw({ env }: Pick<Io, "env">): boolean {
  return process.stdin.isTTY && process.stdout.isTTY && env["TERM"] !== "dumb";
}

/** Reads nothing before the first line is requested. */
async function* readLines(): AsyncGenerator<string> {
  const reader = createInterface({ input: process.stdin, crlfDelay: Infinity });
  try {
    yield* reader;
  } finally {
    reader.close();
  }
}
