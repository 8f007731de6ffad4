// Writer processes: started, listened to, stalled, killed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Told, WriterTask } from "./told.ts";

export interface Writer {
  readonly pid: number;
  /** Once it has opened the store; rejects where it ended before. */
  readonly ready: Promise<void>;
  pause(): void;
  goOn(): void;
  /** Resolves when it is gone and all it said was heard. True where it was alive until then. */
  kill(): Promise<boolean>;
}

const program = fileURLToPath(new URL("writer.ts", import.meta.url));

export function startWriter(task: WriterTask, onTold: (pid: number, told: Told) => void): Writer {
  const child = spawn(process.execPath, [program, JSON.stringify(task)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { pid = 0 } = child;
  const ended = once(child, "exit");
  const lines = createInterface({ input: child.stdout });
  const heard = once(lines, "close");
  const ready = new Promise<void>((resolve, reject) => {
    lines.on("line", (line) => {
      const told = toTold(line);
      if (told === null) return;
      if (told.at === "ready") resolve();
      onTold(pid, told);
    });
    lines.on("close", () => reject(new Error(`writer ${task.name} ended before it was ready`)));
  });
  // Whoever kills it early does not wait for it.
  ready.catch(() => {});
  return {
    pid,
    ready,
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

/** The last line of a killed process may be cut off. */
function toTold(line: string): Told | null {
  try {
    return JSON.parse(line) as Told;
  } catch {
    return null;
  }
}
