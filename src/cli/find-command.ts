// Finds the command that words name, or says which commands are like them.
import { nearestNames } from "../core/nearest-names.ts";
import { StrataError } from "../core/strata-error.ts";
import type { Command } from "./command.ts";
import { commands } from "./commands.ts";

/** The command whose full name or alias the words begin with; the longest wins. */
export function findCommand(words: readonly string[]): {
  readonly command: Command;
  readonly rest: readonly string[];
} {
  const name = words.slice(0, 2).join(" ");
  const full = commands.find((command) => command.name === name);
  if (full !== undefined) return { command: full, rest: words.slice(2) };
  const [first = "", second] = words;
  const short = commands.find((command) => command.name === first || command.alias === first);
  const standsAlone = second === undefined || second.startsWith("-") || short?.name === first;
  if (short !== undefined && standsAlone) return { command: short, rest: words.slice(1) };
  const group = groupOf(first);
  const isGroup = group.length > 0;
  const suggestions = isGroup ? inGroup(name, group) : nearCommands(first);
  throw new StrataError(
    "usage",
    `there is no command "${isGroup ? name : first}"`,
    `try: ${suggestions.map((each) => `strata ${each}`).join(", ")}`,
  );
}

/** The commands whose name begins with this word and goes on, as `ledger check`. */
export function groupOf(word: string): readonly Command[] {
  return commands.filter(({ name }) => name.startsWith(`${word} `));
}

function inGroup(name: string, group: readonly Command[]): readonly string[] {
  const known = group.map((command) => command.name);
  const near = nearestNames(name, known, 3);
  return near.length > 0 ? near : known;
}

function wordOf({ name }: Command): string {
  return name.split(" ")[0] ?? name;
}

/** Commands with a similar first word; help if there are none. */
function nearCommands(first: string): readonly string[] {
  const [near] = nearestNames(first, [...new Set(commands.map(wordOf))], 1);
  if (near === undefined) return ["--help"];
  return commands.filter((command) => wordOf(command) === near).map(({ name }) => name);
}
