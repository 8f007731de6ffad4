// Shell commands an agent ran, as it would run them again.
import type { Identifier } from "./identifiers.ts";
import { isObject } from "../../message/fields.ts";

/** How tools that run commands call the field they take it in. */
const commandFields = ["command", "cmd"];
const commandCharactersMax = 80;
/** A script is not a command; its first lines are looked at. */
const scriptCharactersMax = 2_000;

/** Each simple command of at least two words; where it only changes the folder, it says nothing. */
export function* findCommands(input: unknown): Generator<Identifier, void> {
  if (!isObject(input)) return;
  for (const field of commandFields) {
    const script = input[field];
    if (typeof script !== "string") continue;
    for (const part of script.slice(0, scriptCharactersMax).split(/&&|\|\||[;|\n]/u)) {
      const command = part.trim();
      if (isCommand(command)) yield { text: command, kind: "command" };
    }
  }
}

function isCommand(command: string): boolean {
  return (
    command.length <= commandCharactersMax &&
    /^[a-z][\w./-]* +\S/u.test(command) &&
    !/^(?:cd|echo|head|tail|grep|cat|sed|ls|wc|sort) /u.test(command)
  );
}
