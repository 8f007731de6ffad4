// Processes that tell what they do, one JSON value per line: started, listened to, stopped for a while, killed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface ToldProcess<Told> {
  readonly pid: number;
  /** Once it says `ready`; rejects where it ended before. */
  readonly ready: Promise<void>;
  /** Resolves when it says something for which this holds, or after so long; whether it did. */
  hears(isIt: (told: Told) => boolean, msMax: number): Promise<boolean>;
  /** Stands still, leases and all, and goes on. */
  pause(): void;
  goOn(): void;
  /** Resolves when it is gone and all it said was heard. True where it was alive until then. */
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
  // Whoever kills it early does not wait for it.
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

/** The last line of a killed process may be cut off. */
function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
