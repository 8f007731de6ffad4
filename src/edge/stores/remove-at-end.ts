// Removes files that must not outlive the process, even if it is stopped.
import { rmSync } from "node:fs";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Removes them when the process exits or gets a signal, until the returned function is called. */
export function removeAtEnd(paths: readonly string[]): () => void {
  const remove = (): void => {
    for (const path of paths) rmSync(path, { recursive: true, force: true });
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    remove();
    stop();
    // Without other listeners, the signal takes its normal effect.
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
