// strata chat: an agent at the terminal, or in a script.
import { createInterface } from "node:readline";
import { StrataError } from "../../core/strata-error.ts";
import type { CommandBody, CommandInput, Io } from "../command.ts";
import { openChat, type Whom } from "./open-chat.ts";
import { runChat, type ChatEdges, type ChatWish } from "./run-chat.ts";

export const run: CommandBody = async (input, io) => {
  const wish = readWish(input);
  const terminal = wish.prompt === null && !wish.isJson && canDraw(io) ? here() : null;
  const whom: Whom = wish.isAllowed
    ? "everything is allowed"
    : terminal === null
      ? "nobody"
      : "person";
  return runChat(
    wish,
    {
      open: (asks) => openChat(input, io, whom, asks),
      whom,
      terminal,
      lines: readLines(),
      colours: process.stdout.isTTY && process.stdout.hasColors(16, { ...io.env }),
    },
    io,
  );
};

function readWish({ values, switches }: CommandInput): ChatWish {
  const prompt = values.get("prompt") ?? null;
  if (values.has("resume") && values.has("model")) {
    throw new StrataError(
      "usage",
      "--resume and --model do not go together: a session keeps its model",
      "resume it, then say /model ID",
    );
  }
  return {
    prompt,
    isJson: switches.has("json"),
    isAllowed: switches.has("yes"),
    model: values.get("model") ?? null,
  };
}

function canDraw({ env }: Pick<Io, "env">): boolean {
  return process.stdin.isTTY && process.stdout.isTTY && env["TERM"] !== "dumb";
}

function here(): NonNullable<ChatEdges["terminal"]> {
  return { input: process.stdin, output: process.stdout };
}

/** Nothing is read before the first line is asked for. */
async function* readLines(): AsyncGenerator<string> {
  const reader = createInterface({ input: process.stdin, crlfDelay: Infinity });
  try {
    yield* reader;
  } finally {
    reader.close();
  }
}
