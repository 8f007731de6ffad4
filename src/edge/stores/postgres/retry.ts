// Goes on where a connection was lost: waits longer and longer, up to a limit.
import { setTimeout as wait } from "node:timers/promises";
import { kindOfFailure } from "./postgres-errors.ts";

export interface RetryRules {
  /** How long a server may be away. */
  readonly forMs: number;
  /** Told before each wait for a server that is away. */
  readonly onLost: (error: unknown) => void;
}

const backoffMsBase = 20;
const backoffMsMax = 1000;
/** Deadlocks and the like, which the next attempt is likely to miss. */
const againMax = 20;

/** Runs something again after a failure that may pass. What it throws in the end is what it threw last. */
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

/** Half of it is chance, so that nodes do not come back all at once. */
export function backoffMs(attempt: number, random: number = Math.random()): number {
  return Math.min(backoffMsMax, backoffMsBase * 2 ** attempt) * (0.5 + random / 2);
}
