// Child processes that report events as JSON lines and can be paused, resumed and killed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface WorkerProcess<Event> {
  readonly pid: number;
  /** Resolves when it reports `ready`; rejects if it ends before. */
  readonly ready: Promise<void>;
  /** Waits for a matching event; false after `msMax` or when the process ends. */
  waitFor(isMatch: (event: Event) => boolean, msMax: number): Promise<boolean>;
  /** Stops the process with SIGSTOP, so that its leases expire. */
  pause(): void;
  resume(): void;
  /** Resolves when it ended and all its events were received. True if it was still alive. */
  kill(): Promise<boolean>;
}

export interface WorkerProgram<Event> {
  readonly program: URL;
  readonly name: string;
  readonly task: unknown;
  readonly onEvent: (event: Event) => void;
}

export function startWorkerProcess<Event extends { readonly at: string }>({
  program,
  name,
  task,
  onEvent,
}: WorkerProgram<Event>): WorkerProcess<Event> {
  const words = [fileURLToPath(program), JSON.stringify(task)];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const lines = createInterface({ input: child.stdout });
  const received = once(lines, "close");
  const listeners = new Set<(event: Event) => void>();
  lines.on("line", (line) => {
    const event = parseLine(line) as Event | null;
    if (event === null) return;
    onEvent(event);
    for (const listener of listeners) listener(event);
  });
  const waitFor: WorkerProcess<Event>["waitFor"] = (isMatch, msMax) =>
    new Promise((resolve) => {
      const end = (isFound: boolean): void => {
        clearTimeout(timer);
        listeners.delete(listener);
        resolve(isFound);
      };
      const listener = (event: Event): void => {
        if (isMatch(event)) end(true);
      };
      const timer = setTimeout(() => end(false), msMax);
      listeners.add(listener);
      lines.once("close", () => end(false));
    });
  const ready = waitFor(({ at }) => at === "ready", readyMsMax).then((isReady) => {
    if (!isReady) throw new Error(`${name} ended before it was ready`);
  });
  // A caller that kills it early does not await `ready`.
  ready.catch(() => {});
  return {
    pid: child.pid ?? 0,
    ready,
    waitFor,
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    kill: async () => {
      const wasAlive = child.exitCode === null && child.kill("SIGKILL");
      await ended;
      await received;
      return wasAlive;
    },
  };
}

const readyMsMax = 60_000;

/** The last line of a killed process can be incomplete. */
function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** For the child: written synchronously, so that reports of a killed process are not lost. */
export function reportEvent(event: { readonly at: string }): void {
  const bytes = Buffer.from(`${JSON.stringify(event)}\n`);
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(1, bytes, written);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) throw error;
    }
  }
}

/** Microseconds on a clock shared by all processes of this machine. */
export function nowUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}
