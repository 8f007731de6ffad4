// Retries after a lost connection, with growing waits, up to a limit.
import { setTimeout as wait } from "node:timers/promises";
import { kindOfFailure } from "./postgres-errors.ts";

export interface RetryRules {
  /** How long a server may be unavailable. */
  readonly forMs: number;
  /** Called before each wait for an unavailable server. */
  readonly onLost: (error: unknown) => void;
}

const backoffMsBase = 20;
const backoffMsMax = 1000;
/** For deadlocks and the like, which the next attempt will probably avoid. */
const againMax = 20;

/** Runs the work again after a failure that may pass. Finally throws the last error. */
export async function retry<T>(work: () => Promise<T>, rules: RetryRules): Promise<T> {
  let lostCount = 0;
  let againCount = 0;
  let endMs = Infinity;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const kind = kindOfFailure(error);
      if (kind === "final") throw error;
      if (kind === "again") {
        againCount += 1;
        if (againCount > againMax) throw error;
        await wait(Math.random() * againCount * 5);
      } else {
        rules.onLost(error);
        if (lostCount === 0) endMs = performance.now() + rules.forMs;
        if (performance.now() >= endMs) throw error;
        await wait(backoffMs(lostCount));
        lostCount += 1;
      }
    }
  }
}

/** Half of it is random, so that nodes do not all reconnect together. */
export function backoffMs(attempt: number, random: number = Math.random()): number {
  return Math.min(backoffMsMax, backoffMsBase * 2 ** attempt) * (0.5 + random / 2);
}
