// Child processes that report events as JSON lines and can be paused, resumed and killed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface ToldProcess<Told> {
  readonly pid: number;
  /** Resolves when it reports `ready`; rejects if it ends before. */
  readonly ready: Promise<void>;
  /** Waits for a matching event; false after `msMax` or when the process ends. */
  hears(isIt: (told: Told) => boolean, msMax: number): Promise<boolean>;
  /** Stops the process with SIGSTOP, so that its leases expire. */
  pause(): void;
  goOn(): void;
  /** Resolves when it ended and all its events were received. True if it was still alive. */
  kill(): Promise<boolean>;
}

export interface ToldProgram<Told> {
  readonly program: URL;
  readonly name: string;
  readonly task: unknown;
  readonly onTold: (told: Told) => void;
}

export function startToldProcess<Told extends { readonly at: string }>({
  program,
  name,
  task,
  onTold,
}: ToldProgram<Told>): ToldProcess<Told> {
  const words = [fileURLToPath(program), JSON.stringify(task)];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const lines = createInterface({ input: child.stdout });
  const heard = once(lines, "close");
  const listeners = new Set<(told: Told) => void>();
  lines.on("line", (line) => {
    const told = parseLine(line) as Told | null;
    if (told === null) return;
    onTold(told);
    for (const listener of listeners) listener(told);
  });
  const hears: ToldProcess<Told>["hears"] = (isIt, msMax) =>
    new Promise((resolve) => {
      const end = (didHear: boolean): void => {
        clearTimeout(timer);
        listeners.delete(listener);
        resolve(didHear);
      };
      const listener = (told: Told): void => {
        if (isIt(told)) end(true);
      };
      const timer = setTimeout(() => end(false), msMax);
      listeners.add(listener);
      lines.once("close", () => end(false));
    });
  const ready = hears(({ at }) => at === "ready", readyMsMax).then((isReady) => {
    if (!isReady) throw new Error(`${name} ended before it was ready`);
  });
  // A caller that kills it early does not await `ready`.
  ready.catch(() => {});
  return {
    pid: child.pid ?? 0,
    ready,
    hears,
    pause: () => void child.kill("SIGSTOP"),
    goOn: () => void child.kill("SIGCONT"),
    kill: async () => {
      const wasAlive = child.exitCode === null && child.kill("SIGKILL");
      await ended;
      await heard;
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
