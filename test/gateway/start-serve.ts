// `strata serve` in a process of its own.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished } from "vitest";

export interface StartedServe {
  readonly child: ChildProcess;
  readonly url: string;
  readonly port: number;
  readonly out: () => string;
  readonly error: () => string;
  /** The lines after the first, read as JSON. */
  readonly lines: () => readonly Readonly<Record<string, unknown>>[];
  /** Sends the signal and gives the exit status. */
  stop(signal: NodeJS.Signals): Promise<unknown>;
}

/** In a folder of its own, at any free port, with `--json`. */
export async function startServe(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<StartedServe> {
  const folder = mkdtempSync(join(tmpdir(), "strata-serve-"));
  const child = spawn(
    process.execPath,
    [resolve("src/cli/main.ts"), "serve", "--port", "0", "--json", ...words],
    {
      cwd: folder,
      env: {
        ...process.env,
        HOME: folder,
        XDG_CONFIG_HOME: folder,
        STRATA_DATA_DIR: folder,
        ...env,
      },
    },
  );
  const [out, error]: [string[], string[]] = [[], []];
  child.stdout.on("data", (data) => out.push(String(data)));
  child.stderr.on("data", (data) => error.push(String(data)));
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
    rmSync(folder, { recursive: true, force: true });
  });
  const read = (): readonly Readonly<Record<string, unknown>>[] =>
    out
      .join("")
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  await expect.poll(() => out.join("") + error.join("")).toContain("\n");
  const [first] = read();
  if (first === undefined) throw new Error(error.join(""));
  return {
    child,
    url: String(first["url"]),
    port: Number(first["port"]),
    out: () => out.join(""),
    error: () => error.join(""),
    lines: () => read().slice(1),
    stop: async (signal) => {
      child.kill(signal);
      return ((await exited) as unknown[])[0];
    },
  };
}
