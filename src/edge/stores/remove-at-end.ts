// Files that must not outlive the process, also where it is stopped in the middle.
import { rmSync } from "node:fs";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Removes them when the process ends by itself or is told to end, until the function that it returns is called. */
export function removeAtEnd(paths: readonly string[]): () => void {
  const remove = (): void => {
    for (const path of paths) rmSync(path, { recursive: true, force: true });
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    remove();
    stop();
    // Where nobody else has plans for it, the signal does what it would have done.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
  const stop = (): void => {
    process.off("exit", remove);
    for (const signal of signals) process.off(signal, onSignal);
  };
  process.on("exit", remove);
  for (const signal of signals) process.on(signal, onSignal);
  return stop;
}
