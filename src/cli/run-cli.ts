// Words → command → exit status. An error the user can fix is two lines on stderr; any other prints its stack.
import packageJson from "../../package.json" with { type: "json" };
import { exitStatusOf } from "../core/strata-error.ts";
import { parseInput, type Io } from "./command.ts";
import { commands } from "./commands.ts";
import { findCommand, groupOf } from "./find-command.ts";
import { renderGroup, renderHelp, renderOverview } from "./help.ts";
import { reportError } from "./report-error.ts";

export async function runCli(words: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatch(words, io);
  } catch (error) {
    return reportError(error, words.includes("--debug"), io);
  }
}

async function dispatch(words: readonly string[], io: Io): Promise<number> {
  const [first, second] = words;
  if (first === "--version" || first === "-v") {
    io.out(`${packageJson.version}\n`);
    return 0;
  }
  if (first === "help" && words.length > 1) return dispatch([...words.slice(1), "--help"], io);
  if (first === undefined || first === "--help" || first === "-h" || first === "help") {
    io.out(renderOverview(commands, packageJson.version));
    return first === undefined ? exitStatusOf.usage : 0;
  }
  const group = groupOf(first);
  const wantsHelp = second === "--help" || second === "-h";
  const isAlone = second === undefined && !group.some(({ alias }) => alias === first);
  if (group.length > 0 && (wantsHelp || isAlone)) {
    io.out(renderGroup(first, group));
    return wantsHelp ? 0 : exitStatusOf.usage;
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
