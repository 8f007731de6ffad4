// Words → command → exit status. An error the user can fix is two lines on stderr; any other prints its stack.
import packageJson from "../../package.json" with { type: "json" };
import { exitStatusOf, StrataError } from "../core/strata-error.ts";
import { parseInput, type Command, type Io } from "./command.ts";
import { commands } from "./commands.ts";
import { renderHelp, renderOverview } from "./help.ts";
import { nearestNames } from "../core/nearest-names.ts";
import { toPrintable } from "./ledger/render-ledger.ts";

export async function runCli(words: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatch(words, io);
  } catch (error) {
    return reportError(error, words.includes("--debug"), io);
  }
}

async function dispatch(words: readonly string[], io: Io): Promise<number> {
  const first = words[0];
  if (first === "--version" || first === "-v") {
    io.out(`${packageJson.version}\n`);
    return 0;
  }
  if (first === "help" && words.length > 1) return dispatch([...words.slice(1), "--help"], io);
  if (first === undefined || first === "--help" || first === "-h" || first === "help") {
    io.out(renderOverview(commands, packageJson.version));
    return first === undefined ? exitStatusOf.usage : 0;
  }
  const { command, rest } = findCommand(words);
  const input = parseInput(command, rest);
  if (input.switches.has("help")) {
    io.out(renderHelp(command));
    return 0;
  }
  const { run } = await command.load();
  return run(input, io);
}

/** The command whose full name or alias the words begin with; the longest wins. */
function findCommand(words: readonly string[]): { command: Command; rest: readonly string[] } {
  const name = words.slice(0, 2).join(" ");
  const full = commands.find((command) => command.name === name);
  if (full !== undefined) return { command: full, rest: words.slice(2) };
  const [first = "", second] = words;
  const short = commands.find((command) => command.name === first || command.alias === first);
  const standsAlone = second === undefined || second.startsWith("-") || short?.name === first;
  if (short !== undefined && standsAlone) return { command: short, rest: words.slice(1) };
  const group = commands.filter((command) => command.name.startsWith(`${first} `));
  const isGroup = group.length > 0;
  const suggestions = isGroup ? inGroup(name, group) : nearCommands(first);
  throw new StrataError(
    "usage",
    `there is no command "${isGroup ? name : first}"`,
    `try: ${suggestions.map((each) => `strata ${each}`).join(", ")}`,
  );
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

function reportError(error: unknown, isDebugging: boolean, io: Io): number {
  if (!(error instanceof StrataError)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    io.error(toPrintable(`strata: ${text}\n`));
    return 1;
  }
  io.error(toPrintable(`strata: ${error.message}\n  ${error.hint}\n`));
  if (isDebugging) io.error(toPrintable(`${error.stack ?? ""}\n`));
  return exitStatusOf[error.code];
}
