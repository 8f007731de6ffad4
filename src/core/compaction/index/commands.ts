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
    for (const part of simpleCommands(script.slice(0, scriptCharactersMax))) {
      const command = part.replace(/^&/u, "").trim();
      if (isCommand(command)) yield { text: command, kind: "command" };
    }
  }
}

/** Split at `;`, `|`, `&&` and line ends outside of quotes. A text that goes on to the next lines ends the script. */
function* simpleCommands(script: string): Generator<string, void> {
  let [start, quote] = [0, ""];
  for (let at = 0; at < script.length; at += 1) {
    const character = script[at] ?? "";
    if (quote !== "") {
      if (character === quote) quote = "";
    } else if (character === '"' || character === "'") quote = character;
    else if (";|\n".includes(character) || script.startsWith("&&", at)) {
      const command = script.slice(start, at);
      yield command;
      if (command.includes("<<")) return;
      start = at + 1;
    }
  }
  if (quote === "") yield script.slice(start);
}

function isCommand(command: string): boolean {
  return (
    command.length <= commandCharactersMax &&
    /^[a-z][\w./-]* +\S/u.test(command) &&
    !/^(?:cd|echo|head|tail|grep|cat|sed|ls|wc|sort) /u.test(command)
  );
}
