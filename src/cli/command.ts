// What a command is: a row of the command table. Help, parsing and docs/cli.md all read the same row.
import { parseArgs } from "node:util";
import { StrataError } from "../core/strata-error.ts";
import { nearestNames } from "../core/nearest-names.ts";

export interface Command {
  /** What a user types after `strata`, such as `models show`. */
  readonly name: string;
  /** A shorter name, such as `models` for `models list`. */
  readonly alias?: string;
  readonly summary: string;
  readonly operands?: readonly Operand[];
  readonly options: Readonly<Record<string, OptionSpec>>;
  /** What to type → what it shows. */
  readonly examples: Readonly<Record<string, string>>;
  /** Loads the code only when the command runs, so that one command does not slow down the others. */
  load(): Promise<{ readonly run: CommandBody }>;
}

export interface Operand {
  readonly name: string;
  readonly meaning: string;
  /** `optional`: may be missing. `several`: one or more; `any`: none or more; only for the last. */
  readonly count?: "optional" | "several" | "any";
}

export interface OptionSpec {
  /** The name of the value, such as `DIR`; absent for a switch. */
  readonly value?: string;
  /** One letter, typed with one dash. */
  readonly short?: string;
  readonly meaning: string;
}

/** Does the work and returns the exit status. */
export type CommandBody = (input: CommandInput, io: Io) => Promise<number>;

export interface CommandInput {
  readonly operands: readonly string[];
  readonly switches: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, string>;
}

/** Where a command writes. Colours come from util.styleText, which omits them if the output is not a terminal. */
export interface Io {
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Registers a function to run, and wait for, when the reader of the output has gone. */
  readonly whenGone?: (end: () => Promise<unknown>) => void;
}

/** Options of every command. */
export const commonOptions: Readonly<Record<string, OptionSpec>> = {
  help: { short: "h", meaning: "show this help" },
  debug: { meaning: "show where an error came from" },
};

/** An option of most commands that print. */
export const json: OptionSpec = { meaning: "print the result as one JSON value" };

/** Reads the words of a command; an unknown option is an error that names the nearest known one. */
export function parseInput(command: Command, words: readonly string[]): CommandInput {
  const specs = { ...command.options, ...commonOptions };
  const { tokens } = parseArgs({
    args: [...words],
    options: Object.fromEntries(
      Object.entries(specs).map(([name, spec]) => [
        name,
        {
          type: spec.value === undefined ? ("boolean" as const) : ("string" as const),
          ...(spec.short === undefined ? {} : { short: spec.short }),
        },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const operands: string[] = [];
  const switches = new Set<string>();
  const values = new Map<string, string>();
  for (const token of tokens) {
    if (token.kind === "positional") operands.push(token.value);
    if (token.kind !== "option") continue;
    const spec = Object.hasOwn(specs, token.name) ? specs[token.name] : undefined;
    if (spec === undefined) throw unknownOption(command, token.rawName, Object.keys(specs));
    if (values.has(token.name))
      throw usage(command, `${token.rawName} is given twice; give it once`);
    if (spec.value === undefined && token.value === undefined) switches.add(token.name);
    else if (spec.value !== undefined && token.value !== undefined)
      values.set(token.name, token.value);
    else throw wrongValue(command, token.rawName, spec);
  }
  checkOperands(command, operands, switches);
  return { operands, switches, values };
}

function checkOperands(
  command: Command,
  operands: readonly string[],
  switches: ReadonlySet<string>,
): void {
  if (switches.has("help")) return;
  const { operands: specs = [] } = command;
  const missing = specs[operands.length];
  if (missing !== undefined && missing.count !== "optional" && missing.count !== "any") {
    throw usage(command, `strata ${command.name} needs ${missing.name}: ${missing.meaning}`);
  }
  const extra = operands[specs.length];
  const { count } = specs.at(-1) ?? {};
  if (extra !== undefined && count !== "several" && count !== "any") {
    throw usage(command, `strata ${command.name} takes no further operand: "${extra}"`);
  }
}

function unknownOption(command: Command, rawName: string, known: readonly string[]): StrataError {
  const near = nearestNames(rawName.replace(/^-+/, ""), known, 2);
  const suggestion =
    near.length > 0 ? `; did you mean ${near.map((name) => `--${name}`).join(" or ")}?` : "";
  const message = `strata ${command.name} has no option ${rawName}${suggestion}`;
  if (near.length > 0 || command.operands === undefined) return usage(command, message);
  return new StrataError(
    "usage",
    message,
    `put -- before words that begin with a hyphen; see: strata ${command.name} --help`,
  );
}

function wrongValue(command: Command, rawName: string, spec: OptionSpec): StrataError {
  const problem = spec.value === undefined ? "takes no value" : `needs a value: ${spec.value}`;
  return usage(command, `${rawName} ${problem}`);
}

function usage(command: Command, message: string): StrataError {
  return new StrataError("usage", message, `see: strata ${command.name} --help`);
}
