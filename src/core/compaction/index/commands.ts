// Shell commands an agent ran, as it would run them again.
import { isObject } from "../../message/fields.ts";
import type { Identifier } from "./identifiers.ts";

/** The field names that command tools use. */
const commandFields = ["command", "cmd"];
const commandCharactersMax = 80;
/** Only the first lines of a script are examined. */
const scriptCharactersMax = 2_000;

/** Each simple command of at least two words. Skips commands that only change the folder. */
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
