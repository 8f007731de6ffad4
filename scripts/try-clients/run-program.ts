// Runs a client's program in a home of its own, with no key, and a dead proxy in place of the network.
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";

export interface Program {
  readonly path: string;
  readonly words: readonly string[];
  readonly home: string;
  readonly workspace: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where its output is kept. */
  readonly logFile: string;
  readonly msMax: number;
}

export interface Ended {
  /** Null if it was stopped: it took too long, or a signal came. */
  readonly exit: number | null;
  readonly seconds: number;
}

export async function runProgram(program: Program): Promise<Ended> {
  const { path, words, home, workspace, logFile, msMax } = program;
  const startMs = Date.now();
  const log = createWriteStream(logFile);
  // A group of its own: what the client started ends with it.
  const child = spawn(path, words, {
    cwd: workspace,
    env: { ...offline(home), ...program.env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.on("error", (error) => {
    log.write(`${error.message}\n`);
    resolve(null);
  });
  child.on("exit", resolve);
  const timer = setTimeout(() => endGroup(child.pid), msMax);
  const exit = await promise;
  clearTimeout(timer);
  endGroup(child.pid);
  log.end();
  return { exit, seconds: (Date.now() - startMs) / 1000 };
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended with all that it started.
  }
}

/** Nothing of this process's environment but where programs are. The proxy is a port that takes no connection. */
function offline(home: string): Readonly<Record<string, string>> {
  const nowhere = "http://127.0.0.1:9";
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    XDG_CONFIG_HOME: `${home}/.config`,
    XDG_DATA_HOME: `${home}/.local/share`,
    XDG_STATE_HOME: `${home}/.local/state`,
    XDG_CACHE_HOME: `${home}/.cache`,
    TMPDIR: `${home}/tmp`,
    LANG: "C.UTF-8",
    TERM: "dumb",
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    NO_PROXY: "127.0.0.1,localhost,::1",
  };
}
