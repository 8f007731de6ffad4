// Help texts from the command table.
import { windowColumns, wrapWords } from "./window.ts";
import { commonOptions, type Command, type Operand, type OptionSpec } from "./command.ts";

/** What `strata --help` prints. */
export function renderOverview(commands: readonly Command[], version: string): string {
  const rows = commands.map((command) => [usageOf(command), command.summary] as const);
  return [
    `strata ${version}: a context engine for LLM agents`,
    "",
    "Usage: strata COMMAND [options]",
    "",
    ...columns(rows),
    "",
    "strata COMMAND --help shows a command's options and examples.",
    "strata --version prints the version.",
    "",
  ].join("\n");
}

/** What `strata COMMAND --help` prints. */
export function renderHelp(command: Command): string {
  const operands = (command.operands ?? []).map(({ name, meaning }) => [name, meaning] as const);
  const options = Object.entries({ ...command.options, ...commonOptions }).map(
    ([name, spec]) => [spellOption(name, spec), spec.meaning] as const,
  );
  const examples = Object.entries(command.examples).flatMap(([line, shows]) => [
    `  ${line}`,
    `      ${shows}`,
  ]);
  return [
    `${command.summary}.`,
    "",
    `Usage: strata ${usageOf(command)} [options]`,
    ...(command.alias === undefined ? [] : [`   or: strata ${command.alias} [options]`]),
    "",
    ...columns([...operands, ...options]),
    "",
    "Examples:",
    ...examples,
    "",
  ].join("\n");
}

/** What `strata GROUP` and `strata GROUP --help` print, as for `ledger`. */
export function renderGroup(word: string, group: readonly Command[]): string {
  const usual = group.find(({ alias }) => alias === word);
  return [
    `Usage: strata ${word} COMMAND [options]`,
    "",
    ...columns(group.map((command) => [usageOf(command), command.summary] as const)),
    "",
    ...(usual === undefined ? [] : [`strata ${word} alone is strata ${usual.name}.`]),
    `strata ${word} COMMAND --help shows a command's options and examples.`,
    "",
  ].join("\n");
}

export function usageOf(command: Command): string {
  return [command.name, ...(command.operands ?? []).map(spellOperand)].join(" ");
}

function spellOperand({ name, count }: Operand): string {
  if (count === "optional") return `[${name}]`;
  if (count === "any") return `[${name}…]`;
  return count === "several" ? `${name}…` : name;
}

export function spellOption(name: string, spec: OptionSpec): string {
  const short = spec.short === undefined ? "" : `-${spec.short}, `;
  const value = spec.value === undefined ? "" : ` ${spec.value}`;
  return `${short}--${name}${value}`;
}

/** Beside each other; below each other where the window leaves no room for words. */
function columns(rows: readonly (readonly [string, string])[]): string[] {
  const window = windowColumns();
  const width = Math.max(...rows.map(([left]) => left.length));
  const room = window - width - 4;
  if (room >= wordsRoomMin) {
    return rows.flatMap(([left, right]) =>
      wrapWords(right, room).map(
        (line, at) => `  ${(at === 0 ? left : "").padEnd(width)}  ${line}`,
      ),
    );
  }
  return rows.flatMap(([left, right]) => [
    `  ${left}`,
    ...wrapWords(right, Math.max(wordsRoomMin, window - 6)).map((line) => `      ${line}`),
  ]);
}

/** Fewer columns would break most lines. */
const wordsRoomMin = 30;
