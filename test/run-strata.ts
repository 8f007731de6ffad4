// The program in a process of its own, on a ledger of the test's.
import { spawn, spawnSync, type ChildProcess, type SpawnSyncOptions } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect } from "vitest";

export interface Ended {
  readonly status: number | null;
  readonly out: string;
  readonly error: string;
}

export function runStrata(
  store: string,
  words: readonly string[],
  options: SpawnSyncOptions = {},
): Ended {
  const [program = "", ...rest] = toProgram(words);
  return runProgram(store, program, rest, options);
}

export function toProgram(words: readonly string[]): readonly string[] {
  return [process.execPath, "src/cli/main.ts", ...words];
}

export function runProgram(
  store: string,
  program: string,
  words: readonly string[],
  { env, ...options }: SpawnSyncOptions,
): Ended {
  const ran = spawnSync(program, words, {
    ...options,
    env: environment(store, env),
    encoding: "utf8",
  });
  return { status: ran.status, out: ran.stdout, error: ran.stderr };
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended & { readonly signal: NodeJS.Signals | null }>;
}

/** For what happens to the program while it runs. */
export function startStrata(
  store: string,
  words: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Running {
  const [program = "", ...rest] = toProgram(words);
  const child = spawn(program, rest, { env: environment(store, env) });
  const ended = Promise.all([once(child, "close"), text(child.stdout), text(child.stderr)]).then(
    ([[status, signal], out, error]) => ({ status, signal, out, error }),
  );
  return { child, ended };
}

function environment(store: string, env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return { ...process.env, STRATA_STORE: store, ...env };
}

/** Two lines: what is wrong, and what to do. No stack. */
export function expectOneError({ error }: Ended, message: string, hint: string): void {
  const lines = error.trimEnd().split("\n");
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain(message);
  expect(lines[1]).toContain(hint);
}
