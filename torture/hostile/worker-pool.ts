// A worker process and its watchdog: a hang is seen from outside, and the process is killed.
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Fault } from "./door.ts";
import type { Chunk, ChunkTally, WorkerMessage } from "./messages.ts";

export type ChunkEnd =
  | { readonly kind: "done"; readonly tally: ChunkTally }
  /** Killed, because an input took too long. */
  | { readonly kind: "hung"; readonly number: number }
  /** It ended by itself. */
  | { readonly kind: "ended"; readonly number: number; readonly code: string };

export interface Worker {
  run(chunk: Chunk): Promise<ChunkEnd>;
  close(): Promise<void>;
}

export interface WorkerSetup {
  readonly module: string;
  readonly seed: number;
  /** The run's folder. */
  readonly folder: string;
  /** How long an input may take before the process is killed. */
  readonly killMs: number;
  readonly onFault: (fault: Fault) => void;
}

/** Starting a process and opening a door may take this long. */
const openMsMax = 120_000;
const lookEveryMs = 250;

export async function startWorker(setup: WorkerSetup): Promise<Worker> {
  const base = mkdtempSync(join(setup.folder, "worker-"));
  const stateFile = join(base, "state");
  mkdirSync(join(base, "doors"));
  const { module, seed } = setup;
  const program = fileURLToPath(new URL("worker.ts", import.meta.url));
  const child = fork(program, [JSON.stringify({ module, seed, base, stateFile })], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    // No variable of ours reaches what is tried. Its secrets have another word, which the run itself does not search for.
    env: {
      PATH: process.env["PATH"] ?? "",
      PLANTED_WORD: "H0st1leW",
      STRATA_DATA_DIR: join(base, "data"),
    },
  });
  const gone = once(child, "exit");
  await Promise.race([waitFor(child, "ready"), gone]);
  return {
    run: (chunk) => runChunk(child, chunk, stateFile, setup),
    close: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGKILL");
        await gone;
      }
      rmSync(base, { recursive: true, force: true });
    },
  };
}

function waitFor(child: ChildProcess, type: WorkerMessage["type"]): Promise<void> {
  return new Promise((resolve) => {
    const onMessage = (message: WorkerMessage): void => {
      if (message.type !== type) return;
      child.off("message", onMessage);
      resolve();
    };
    child.on("message", onMessage);
  });
}

function runChunk(
  child: ChildProcess,
  chunk: Chunk,
  stateFile: string,
  { killMs, onFault }: WorkerSetup,
): Promise<ChunkEnd> {
  return new Promise((resolve) => {
    let seen = { number: -1, sinceMs: performance.now() };
    const settle = (end: ChunkEnd): void => {
      clearInterval(watchdog);
      child.off("message", onMessage).off("exit", onExit);
      resolve(end);
    };
    const onMessage = (message: WorkerMessage): void => {
      if (message.type === "fault") onFault(message.fault);
      if (message.type === "done") settle({ kind: "done", tally: message });
    };
    const onExit = (code: number | null, signal: string | null): void => {
      settle({ kind: "ended", number: readNumber(stateFile), code: String(code ?? signal) });
    };
    const watchdog = setInterval(() => {
      const number = readNumber(stateFile);
      if (number !== seen.number) seen = { number, sinceMs: performance.now() };
      const waitedMs = performance.now() - seen.sinceMs;
      if (waitedMs < (number === -1 ? openMsMax : killMs)) return;
      child.off("exit", onExit);
      child.kill("SIGKILL");
      child.once("exit", () => settle({ kind: "hung", number }));
    }, lookEveryMs);
    child.on("message", onMessage).on("exit", onExit);
    child.send(chunk);
  });
}

function readNumber(stateFile: string): number {
  try {
    const bytes = readFileSync(stateFile);
    return bytes.length === 8 ? bytes.readDoubleLE() : -1;
  } catch {
    return -1;
  }
}
