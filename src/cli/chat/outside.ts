// What ends a chat from outside: a signal, or a closed output.
import { constants } from "node:os";
import type { Io } from "../command.ts";

export interface Outside {
  /** Resolves with null at the first of them. */
  readonly ended: Promise<null>;
  isEnded(): boolean;
  /** The exit status if a signal ended it, else null. */
  status(): number | null;
  close(): void;
}

const signals = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/** Handles only the first signal; the system handles the next one. `over` resolves once everything is closed. */
export function watchOutside({ whenGone }: Pick<Io, "whenGone">, over: Promise<unknown>): Outside {
  const { promise: ended, resolve } = Promise.withResolvers<null>();
  let isEnded = false;
  let status: number | null = null;
  const close = (): void => {
    for (const signal of signals) process.off(signal, onSignal);
  };
  const end = (): void => {
    isEnded = true;
    close();
    resolve(null);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    status = 128 + constants.signals[signal];
    end();
  };
  for (const signal of signals) process.on(signal, onSignal);
  whenGone?.(() => {
    end();
    return over;
  });
  return { ended, isEnded: () => isEnded, status: () => status, close };
}
