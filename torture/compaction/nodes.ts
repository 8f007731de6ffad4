// Nodes as processes: started, listened to, stopped for a while, killed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { NodeTask } from "./node.ts";
import type { Told } from "./told.ts";

export interface NodeProcess {
  readonly name: string;
  /** Once it has opened the store; rejects where it ended before. */
  readonly ready: Promise<void>;
  /** Resolves when it says something for which this holds, or after so long; whether it did. */
  hears(isIt: (told: Told) => boolean, msMax: number): Promise<boolean>;
  pause(): void;
  goOn(): void;
  /** Resolves when it is gone and all it said was heard. True where it was alive until then. */
  kill(): Promise<boolean>;
}

const program = fileURLToPath(new URL("node.ts", import.meta.url));

export function startNode(
  name: string,
  task: NodeTask,
  onTold: (node: string, told: Told) => void,
): NodeProcess {
  const child = spawn(process.execPath, [program, JSON.stringify(task)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const lines = createInterface({ input: child.stdout });
  const heard = once(lines, "close");
  const listeners = new Set<(told: Told) => void>();
  lines.on("line", (line) => {
    const told = toTold(line);
    if (told === null) return;
    onTold(name, told);
    for (const listener of listeners) listener(told);
  });
  const hears: NodeProcess["hears"] = (isIt, msMax) =>
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
  const ready = hears(({ at }) => at === "ready", 60_000).then((isReady) => {
    if (!isReady) throw new Error(`node ${name} ended before it was ready`);
  });
  // Whoever kills it early does not wait for it.
  ready.catch(() => {});
  return {
    name,
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

/** The last line of a killed process may be cut off. */
function toTold(line: string): Told | null {
  try {
    return JSON.parse(line) as Told;
  } catch {
    return null;
  }
}
